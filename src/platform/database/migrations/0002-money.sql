-- Money. Feeds read only donation_month and disbursement; donation_month is kept by the write that moves money,
-- never by scanning donations.

create table donation (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id),
  -- The organisation that gave; null for a person (who is never named anywhere near a feed).
  funder_id bigint references organisation (id),
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  settled_at timestamptz not null,
  source row_source not null
);
create index donation_project on donation (project_id, settled_at);

create table donation_month (
  project_id bigint not null references project (id) on delete cascade,
  month date not null check (extract(day from month) = 1),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  kind text not null check (kind in ('gift', 'refund', 'fee', 'opening')),
  source row_source not null,
  funder_id bigint references organisation (id),
  -- Gifts, fees and openings are positive (a correction may be negative), refunds negative.
  amount numeric(18, 3) not null,
  count integer not null check (count >= 0),
  -- The last day on which money moved; the day that a running month or an opening total is reported for.
  last_on date not null,
  unique nulls not distinct (project_id, month, currency, kind, source, funder_id),
  check (last_on >= month and last_on < month + interval '1 month')
);

create table disbursement (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id),
  reference text not null unique,
  disbursed_on date not null,
  amount numeric(18, 3) not null check (amount <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- null: paid to the project's own organisation.
  receiver_id bigint references organisation (id),
  source row_source not null
);
create index disbursement_project on disbursement (project_id, disbursed_on, id);
