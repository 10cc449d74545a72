-- compatible
-- What the payment processor says it has settled, and how that differs from the books.

create table processor_entry (
  gateway text not null,
  id text not null,
  kind text not null check (kind in ('charge', 'refund')),
  charge_id text not null,
  reference text,
  amount numeric(18, 3) not null,
  currency text not null,
  settled_at timestamptz not null,
  read_at timestamptz not null,
  primary key (gateway, id)
);
create index processor_entry_settled on processor_entry (gateway, settled_at);
create index processor_entry_reference on processor_entry (reference);
create index processor_entry_charge on processor_entry (charge_id);

create table reconciliation (
  gateway text not null,
  day date not null,
  currency text not null,
  processor_amount numeric(18, 3) not null,
  books_amount numeric(18, 3) not null,
  checked_at timestamptz not null,
  primary key (gateway, day, currency)
);

create table reconciliation_difference (
  gateway text not null,
  day date not null,
  currency text not null,
  kind text not null check (kind in ('missing', 'doubled', 'changed', 'unknown')),
  entry text not null check (entry in ('charge', 'refund')),
  reference text,
  processor_id text,
  charge_id text,
  processor_amount text,
  books_amount text,
  difference numeric(18, 3) not null,
  donation_id bigint references donation (id) on delete cascade,
  accepted_at timestamptz
);
create index reconciliation_difference_day on reconciliation_difference (gateway, day);
create index reconciliation_difference_donation on reconciliation_difference (donation_id);

comment on table processor_entry is 'Charges and refunds that a payment processor has settled, as it lists them; nothing of donors.';
comment on column processor_entry.id is 'The processor''s name for the charge or refund.';
comment on column processor_entry.charge_id is 'The processor''s name for the charge; of a refund: of the charge that it gives back.';
comment on column processor_entry.reference is 'Our name for the charge or refund, as the processor keeps it.';
comment on column processor_entry.settled_at is 'When money moved, by the processor''s clock; days are UTC days of it.';
comment on column reconciliation.processor_amount is 'Charges less refunds that the processor settled on the day.';
comment on column reconciliation.books_amount is 'What the books have for these, and what they have for the day that the processor never settled.';
comment on column reconciliation.checked_at is 'When the day was last compared.';
comment on column reconciliation_difference.kind is 'missing: the processor never settled it. doubled: settled twice. changed: another amount or currency. unknown: not in the books.';
comment on column reconciliation_difference.charge_id is 'The processor''s name for the charge concerned.';
comment on column reconciliation_difference.difference is 'By how much the two differ, without a sign.';
comment on column reconciliation_difference.accepted_at is 'When a person accepted it; null: it needs one.';
comment on column reconciliation_difference.processor_amount is 'Amount and currency at the processor; null: it has none.';
comment on column reconciliation_difference.books_amount is 'Amount and currency in the books; null: they have none.';

-- Test donations are looked for at each start, and there are none where donations are real.
create index donation_test on donation (id) where gateway like '%sandbox';
