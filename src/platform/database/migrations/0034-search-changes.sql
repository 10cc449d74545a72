-- compatible
-- A mark for each transaction that changed what searches find: lists of hits are remembered until the next one. Every
-- transaction has a row of its own, so that writers never wait for each other here.

create table search_change (
  xid xid8 primary key default pg_current_xact_id(),
  marked_at timestamptz not null default clock_timestamp()
);

create function mark_search_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'TRUNCATE' then
    -- Most writes to a project run statements on these tables that change no row.
    if not exists (select from changed_rows) then
      return null;
    end if;
  end if;
  insert into search_change default values on conflict do nothing;
  return null;
end $$;
-- A platform that writes with plain SQL may not write to this table itself.
alter function mark_search_change() security definer set search_path from current;

do $$
declare
  name text;
begin
  foreach name in array array['project_search', 'project_theme', 'project_country'] loop
    execute format('create trigger mark_search_insert after insert on %I referencing new table as changed_rows
      for each statement execute function mark_search_change()', name);
    execute format('create trigger mark_search_update after update on %I referencing new table as changed_rows
      for each statement execute function mark_search_change()', name);
    execute format('create trigger mark_search_delete after delete on %I referencing old table as changed_rows
      for each statement execute function mark_search_change()', name);
    execute format('create trigger mark_search_truncate after truncate on %I
      for each statement execute function mark_search_change()', name);
  end loop;
end $$;
