-- compatible
-- Who gets the progress reports of a project by mail. Addresses are kept as those of donors are.
create table subscription (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id) on delete cascade,
  token_hash bytea not null unique check (length(token_hash) = 32),
  language text not null,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  email_hash bytea not null,
  requested_at timestamptz not null,
  confirmed_at timestamptz,
  unique (project_id, email_hash)
);
create index subscription_email_hash on subscription (email_hash);
create index subscription_requested on subscription (requested_at);
comment on table subscription is 'Who gets the progress reports of a project by mail, or has asked for it.';
comment on column subscription.token_hash is 'SHA-256 of what the links of its messages have.';
comment on column subscription.wrapped_key is 'The data key of this row, encrypted and bound to token_hash.';
comment on column subscription.sealed is 'E-mail, title of the project and token, encrypted with the data key and bound to token_hash.';
comment on column subscription.email_hash is 'Keyed hash of the e-mail in small letters.';
comment on column subscription.confirmed_at is 'Null: nothing is sent but the message with the link.';

create table subscription_mail (
  id bigint generated always as identity primary key,
  subscription_id bigint not null references subscription (id) on delete cascade,
  -- The address of the report; empty: the message with the link to confirm.
  report text not null default '',
  state text not null default 'due'
    check (state in ('due', 'sending', 'sent', 'refused', 'failed', 'unknown', 'dropped')),
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  sent_at timestamptz,
  reply integer,
  unique (subscription_id, report)
);
create index subscription_mail_due on subscription_mail ((report <> ''), next_at, id) where state = 'due';
create index subscription_mail_sent on subscription_mail (sent_at) where sent_at is not null;
comment on table subscription_mail is 'Mail to subscribers, each sent at most once; nothing of the person.';

create table followed_project (
  project_id bigint primary key references project (id) on delete cascade,
  release_id text not null,
  reports text[] not null
);
comment on table followed_project is 'Projects with subscribers, and the reports that are new to none of them.';
comment on column followed_project.release_id is 'The release that was looked at last.';
