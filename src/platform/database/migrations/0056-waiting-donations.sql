-- compatible
-- A payment may wait for the donor, whose bank asks, or for the processor, whose direct debit takes days.
alter table donation add column waits_for text;
alter table donation add constraint donation_waits_for_check check (waits_for in ('donor', 'processor')) not valid;
comment on column donation.waits_for is 'For whom a donation that was received waits last; of no meaning in any other status.';
alter table donation add column liability_shifted boolean;
comment on column donation.liability_shifted is 'Whether the bank of the card answers for fraud, as 3-D Secure said; null: the processor did not say.';
