-- Up to which instant a snapshot shows every change that there will ever be. A change bears the time at which it was
-- made, and becomes visible when its transaction commits: whoever asks for changes since an instant must not step over
-- the ones that were still on their way. The earliest start of a transaction that runs is such an instant. Null when a
-- transaction ended after the snapshot was taken, before it could be looked up here: then it is not known.
-- Volatile, so that `pg_current_snapshot()` in here is a new one, taken after the look.
create function changes_known_until(seen pg_snapshot) returns timestamptz language plpgsql volatile as $$
declare
  earliest timestamptz;
  all_found boolean;
begin
  select min(a.xact_start), coalesce(bool_and(a.xact_start is not null), true)
      and not exists (
        select from pg_snapshot_xip(seen) running (xid)
        where running.xid::xid not in (select b.backend_xid from pg_stat_activity b where b.backend_xid is not null))
    into earliest, all_found
    from pg_stat_activity a where a.backend_xid is not null;
  if not all_found or pg_snapshot_xmax(pg_current_snapshot()) <> pg_snapshot_xmax(seen) then
    return null;
  end if;
  return least(statement_timestamp(), earliest);
end $$;
