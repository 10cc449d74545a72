-- Accounts that people make themselves: what the operator grants them, and how failed sign-ins are slowed down.

-- What an account may do beyond reading.
create table account_grant (
  account_id bigint not null references account (id) on delete cascade,
  operation text not null check (operation in ('donations')),
  granted_at timestamptz not null,
  primary key (account_id, operation)
);

-- Attempts counted per subject: SHA-256 of an account, an address, or both together, so that neither is kept as text.
create table attempt_count (
  subject bytea primary key check (length(subject) = 32),
  attempts integer not null,
  last_at timestamptz not null
);
create index attempt_count_age on attempt_count (last_at);

-- Where an account has signed in from: whoever fails elsewhere cannot keep its owner out.
create table sign_in_place (
  account_id bigint not null references account (id) on delete cascade,
  place bytea not null check (length(place) = 32),
  last_at timestamptz not null,
  primary key (account_id, place)
);
