-- compatible
alter table access_token add column last_used_at timestamptz;
comment on column access_token.last_used_at is 'When it was last used, to five minutes, where TOKEN_IDLE_MINUTES is set.';
