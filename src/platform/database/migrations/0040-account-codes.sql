-- compatible
-- Codes that are used once: of an invitation, of the e-mail of a new account, and of a password that is reset.

create table account_code (
  id bigint generated always as identity primary key,
  purpose text not null check (purpose in ('invitation', 'verification', 'reset')),
  code_hash bytea unique check (length(code_hash) = 32),
  email text,
  password_hash text,
  invitation_id bigint references account_code (id) on delete cascade,
  expires_at timestamptz not null,
  mail_at timestamptz,
  tries integer not null default 0 check (tries >= 0),
  check (email is not null or purpose = 'invitation'),
  check ((password_hash is not null) = (purpose = 'verification'))
);
create index account_code_mail on account_code (mail_at) where mail_at is not null;
create index account_code_invitation on account_code (invitation_id) where invitation_id is not null;
create index account_code_expiry on account_code (expires_at);

comment on column account_code.code_hash is 'SHA-256 of the code, which is not stored; null until it is mailed.';
comment on column account_code.email is 'Whose it is; null: an invitation for anybody.';
comment on column account_code.password_hash is 'The password of an account that is made when the e-mail is verified.';
comment on column account_code.invitation_id is 'The invitation that the new account uses up.';
comment on column account_code.mail_at is 'When the code is mailed or mailed again; null: nothing is to be mailed.';
