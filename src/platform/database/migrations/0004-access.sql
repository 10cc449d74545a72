-- API users, their keys and tokens. Only hashes are stored: argon2id of passwords, SHA-256 of keys and tokens.

create table account (
  id bigint generated always as identity primary key,
  email text not null,
  password_hash text not null,
  token_timeout_seconds integer not null default 36000 check (token_timeout_seconds > 0),
  created_at timestamptz not null,
  disabled_at timestamptz
);
create unique index account_email on account (lower(email));

create table api_key (
  id bigint generated always as identity primary key,
  account_id bigint not null references account (id),
  key_hash bytea not null unique check (length(key_hash) = 32),
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_key_account on api_key (account_id);

create table access_token (
  token_hash bytea primary key check (length(token_hash) = 32),
  api_key_id bigint not null references api_key (id),
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index access_token_expiry on access_token (expires_at);

-- Facts about this store as a whole: when it was seeded with demo data, which address it was published under.
create table store_fact (
  name text primary key,
  value text not null,
  recorded_at timestamptz not null
);
