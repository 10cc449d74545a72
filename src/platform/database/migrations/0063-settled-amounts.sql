-- compatible
-- A donation may be charged in another currency than that of the books: they hold what the processor settled for it.
alter table donation add column settled_amount numeric(18, 3), add column settled_addon numeric(18, 3),
  add column settled_currency text;
alter table donation add constraint donation_settled_money_check
  check (num_nonnulls(settled_amount, settled_addon, settled_currency) in (0, 3)) not valid;
comment on column donation.settled_amount is 'What the processor settled for the amount, in settled_currency; null: the amount itself.';
comment on column donation.settled_addon is 'The same of the tip.';
alter table donation_refund add column settled_amount numeric(18, 3);
comment on column donation_refund.settled_amount is 'What of the settled amount went back; null: the amount itself.';
