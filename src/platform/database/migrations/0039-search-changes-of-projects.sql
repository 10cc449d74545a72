-- compatible
-- The marks name the projects, so that a remembered list of hits is mended by looking at these alone. Without a project:
-- any number of them.

alter table search_change drop constraint search_change_pkey, add column project_id bigint;
create unique index search_change_of_project on search_change (xid, project_id) nulls not distinct;

create or replace function mark_search_change() returns trigger language plpgsql as $$
declare
  most constant integer := 1000;
  touched bigint[];
begin
  if tg_op = 'INSERT' then
    touched := array(select distinct project_id from new_rows limit most + 1);
  elsif tg_op = 'UPDATE' then
    touched := array(select project_id from new_rows union select project_id from old_rows limit most + 1);
  elsif tg_op = 'DELETE' then
    touched := array(select distinct project_id from old_rows limit most + 1);
  else
    touched := array[null];
  end if;
  if cardinality(touched) > most then
    touched := array[null];
  end if;
  -- Most writes to a project run statements on these tables that change no row.
  if cardinality(touched) > 0 then
    insert into search_change (project_id) select unnest(touched) on conflict do nothing;
  end if;
  return null;
end $$;
alter function mark_search_change() security definer set search_path from current;

do $$
declare
  name text;
begin
  foreach name in array array['project_search', 'project_theme', 'project_country'] loop
    execute format('create or replace trigger mark_search_insert after insert on %I referencing new table as new_rows
      for each statement execute function mark_search_change()', name);
    execute format('create or replace trigger mark_search_update after update on %I
      referencing new table as new_rows old table as old_rows for each statement execute function mark_search_change()', name);
    execute format('create or replace trigger mark_search_delete after delete on %I referencing old table as old_rows
      for each statement execute function mark_search_change()', name);
  end loop;
end $$;
