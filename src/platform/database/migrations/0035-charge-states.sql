-- compatible
-- What the processor has of the charges that were followed there, and money that went back without a request of ours.

create table charge_state (
  donation_id bigint primary key references donation (id) on delete cascade,
  progress text not null check (progress in ('pending', 'settled', 'failed', 'voided')),
  dispute text check (dispute in ('open', 'won', 'lost')),
  difference text,
  accepted text,
  read_at timestamptz not null
);
create index charge_state_attention on charge_state (donation_id) where difference is not null or dispute = 'open';

comment on column charge_state.difference is 'What the books and the processor do not agree on; null: they agree.';
comment on column charge_state.accepted is 'The difference that an operator has dealt with.';

alter table donation_event drop constraint donation_event_kind_check,
  add constraint donation_event_kind_check
    check (kind in ('received', 'settled', 'declined', 'failed', 'refunded', 'confirmed', 'disputed'));

-- A tip may go back apart from the donation.
alter table donation_refund drop constraint donation_refund_kind_check, drop constraint donation_refund_amount_check,
  add constraint donation_refund_kind_check check (kind in ('refund', 'chargeback', 'failure')),
  add constraint donation_refund_amount_check check (amount >= 0 and amount + addon > 0);
