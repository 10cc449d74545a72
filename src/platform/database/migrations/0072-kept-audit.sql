-- compatible
-- The audit trail is kept as it was written: an entry is never changed, and removed only when it is 400 days old (docs/reference/retention.md);
-- a day less here, since the clock of who removes may be ahead.
create function keep_audit_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.at < now() - interval '399 days' then return old; end if;
  end if;
  raise exception 'audit_event: expected the entries of the last 399 days to stay as they are, got %', lower(tg_op)
    using errcode = 'restrict_violation';
end $$;

create trigger keep_row before update or delete on audit_event for each row execute function keep_audit_event();
create trigger keep_table before truncate on audit_event for each statement execute function keep_audit_event();
