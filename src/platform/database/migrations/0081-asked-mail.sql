-- compatible
-- Who gets mail that anybody can ask for (a link to confirm a subscription, a code of an account) is bounded by the address
-- itself, whatever the network that asks.
create table asked_mail (
  id bigint generated always as identity primary key,
  subject bytea not null,
  asked_at timestamptz not null,
  wanted boolean not null default false
);
create index asked_mail_subject on asked_mail (subject, asked_at);
create index asked_mail_asked on asked_mail (asked_at);
comment on table asked_mail is 'Messages that somebody asked to have sent to an address, for a month.';
comment on column asked_mail.subject is 'A hash of the address.';
comment on column asked_mail.wanted is 'Whether the owner has shown since that the message was wanted.';
