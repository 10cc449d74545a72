-- A write of money touches its project several times in one transaction, and is what many donors wait for.

-- As before, but once a transaction: whoever reads the version sees all of a transaction or nothing of it, so one move
-- tells as much as three. A mark that this very transaction has cleared again (dirty is false) is set again.
create or replace function mark_projects(ids bigint[]) returns void language plpgsql as $$
begin
  if cardinality(ids) = 0 then
    return;
  end if;
  insert into project_version (project_id, version, changed_at, dirty)
  select p.id, nextval('project_version_seq'), clock_timestamp(), true
  from (select id from project where id = any (ids) order by id) p
  where not exists (
    select from project_version v
    where v.project_id = p.id and v.dirty and v.xmin = pg_current_xact_id_if_assigned()::xid)
  on conflict (project_id) do update
    set version = excluded.version, changed_at = excluded.changed_at, dirty = true;
end $$;

-- As before, but without looking for what to do where no project is concerned.
create or replace function search_projects() returns trigger language plpgsql as $$
declare
  touched bigint[];
begin
  if tg_op = 'INSERT' then
    touched := array(select id from new_rows where active);
  else
    touched := array(
      select n.id from old_rows o join new_rows n using (id)
      where row (o.active, o.title, o.summary, o.need, o.activities, o.country_name, o.organisation_id)
        is distinct from row (n.active, n.title, n.summary, n.need, n.activities, n.country_name, n.organisation_id));
  end if;
  if cardinality(touched) > 0 then
    perform refresh_search(touched);
  end if;
  return null;
end $$;
