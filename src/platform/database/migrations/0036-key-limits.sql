-- compatible
-- What a key may be used for, from which web pages and until when, and when it was used last.

alter table api_key
  add column scope text not null default 'read donate' check (scope in ('read', 'donate', 'read donate')),
  add column origins text check (origins is null or (origins <> '' and scope = 'read')),
  add column expires_at timestamptz,
  add column last_used_at timestamptz;

comment on column api_key.scope is 'What the key may be used for: reads, donations (tokens and secure operations), or both.';
comment on column api_key.origins is 'The web origins whose pages may use the key, separated by blanks; null: any caller.';
comment on column api_key.expires_at is 'When the key ends; null: not before it is revoked.';
comment on column api_key.last_used_at is 'A time within the last five minutes of use.';
