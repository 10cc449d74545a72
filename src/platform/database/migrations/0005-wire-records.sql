-- Wire records are texts made by a mapping; a newer mapping must not serve what an older one wrote.
alter table wire_record add column mapping integer not null;

-- A project's record shows how many projects its organisation has. Where that is counted here (and not stated by the
-- source), a sibling that appears, moves, goes or changes `active` changes the record: its version moves. The feeds show
-- no such counts, so `dirty` stays as it is.
create function move_versions_of_siblings(organisations bigint[]) returns void language sql as $$
  update project_version v set version = nextval('project_version_seq'), changed_at = clock_timestamp()
  from (
    select s.project_id
    from project_version s
      join project p on p.id = s.project_id
      join organisation o on o.id = p.organisation_id
    where p.organisation_id = any (organisations)
      and (o.stated_total_projects is null or o.stated_active_projects is null)
    order by s.project_id
    for update of s
  ) sibling
  where v.project_id = sibling.project_id
$$;

-- Named to run after mark_insert and mark_update (triggers run by name), which give new projects their version.
create function move_siblings() returns trigger language plpgsql as $$
declare
  touched bigint[];
begin
  if tg_op = 'INSERT' then
    touched := array(select distinct organisation_id from new_rows where organisation_id is not null);
  elsif tg_op = 'DELETE' then
    touched := array(select distinct organisation_id from old_rows where organisation_id is not null);
  else
    touched := array(
      select organisation_id from (
        select o.organisation_id from old_rows o join new_rows n using (id)
          where o.organisation_id is distinct from n.organisation_id or o.active <> n.active
        union
        select n.organisation_id from old_rows o join new_rows n using (id)
          where o.organisation_id is distinct from n.organisation_id or o.active <> n.active
      ) changed where organisation_id is not null);
  end if;
  if cardinality(touched) > 0 then
    perform move_versions_of_siblings(touched);
  end if;
  return null;
end $$;

create trigger move_siblings_insert after insert on project
  referencing new table as new_rows for each statement execute function move_siblings();
create trigger move_siblings_update after update on project
  referencing new table as new_rows old table as old_rows for each statement execute function move_siblings();
create trigger move_siblings_delete after delete on project
  referencing old table as old_rows for each statement execute function move_siblings();
