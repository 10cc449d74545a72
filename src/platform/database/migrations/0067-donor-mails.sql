-- compatible
-- Mail to donors beside receipts: of a refund, of a charge that failed, of a year.
create table donor_mail (
  id bigint generated always as identity primary key,
  donation_id bigint not null references donation (id) on delete cascade,
  kind text not null check (kind in ('refund', 'charge-failed', 'statement')),
  -- The number of the refund, or the year.
  subject text not null default '',
  state text not null default 'due'
    check (state in ('due', 'sending', 'sent', 'refused', 'failed', 'unknown', 'dropped')),
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  sent_at timestamptz,
  reply integer,
  unique (donation_id, kind, subject)
);
create index donor_mail_due on donor_mail (next_at, id) where state = 'due';
create index donor_mail_unsent on donor_mail (state) where state <> 'sent';
comment on table donor_mail is 'Mail to donors beside receipts, each sent at most once; nothing of the donor.';
