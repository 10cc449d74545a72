-- compatible
-- Receipts that are mailed to donors, entered with the outcome of the donation.

create table receipt_mail (
  donation_id bigint primary key references donation (id) on delete cascade,
  state text not null default 'due'
    check (state in ('due', 'sending', 'sent', 'refused', 'failed', 'unknown', 'dropped')),
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  sent_at timestamptz,
  reply integer
);
create index receipt_mail_due on receipt_mail (next_at, donation_id) where state = 'due';
create index receipt_mail_unsent on receipt_mail (state) where state <> 'sent';

comment on column receipt_mail.next_at is 'When a due receipt is tried; when a try began.';
comment on column receipt_mail.reply is 'The code of the last reply of the mail server that was not good.';
