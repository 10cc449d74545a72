-- What the API reads beside full project records: summaries, organisations, search, the featured list.

-- Texts are a copy of what can be rendered again; the next mapping also writes summaries.
truncate wire_record;
alter table wire_record
  add column summary_xml text not null,
  add column summary_json text not null;

-- Whether the operator vouches for the organisation; the list of vetted ones shows no others.
alter table organisation add column vetted boolean not null default true;

-- One row per organisation: its version moves with every write that its record can show, counts of projects included.
create table organisation_version (
  organisation_id bigint primary key references organisation (id) on delete cascade,
  version bigint not null,
  changed_at timestamptz not null
);
create index organisation_version_changed on organisation_version (changed_at, organisation_id);

-- The organisation's record as ready text, valid while its version is the organisation's and its mapping the program's.
create table organisation_record (
  organisation_id bigint primary key references organisation (id) on delete cascade,
  version bigint not null,
  mapping integer not null,
  xml text not null,
  json text not null
);

-- In id order, as mark_projects does.
create function move_organisations(ids bigint[]) returns void language sql as $$
  insert into organisation_version (organisation_id, version, changed_at)
  select o.id, nextval('project_version_seq'), clock_timestamp()
  from (select id from organisation where id = any (ids) order by id) o
  on conflict (organisation_id) do update set version = excluded.version, changed_at = excluded.changed_at
$$;

create function move_own_organisation() returns trigger language plpgsql as $$
begin
  perform move_organisations(array(select id from new_rows));
  return null;
end $$;

create function move_organisation_of_part() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform move_organisations(array(select distinct organisation_id from old_rows));
  else
    perform move_organisations(array(select distinct organisation_id from new_rows));
  end if;
  return null;
end $$;

create function move_organisations_of_theme() returns trigger language plpgsql as $$
begin
  perform move_organisations(array(
    select t.organisation_id from organisation_theme t join new_rows n on t.theme_id = n.id));
  return null;
end $$;

create function move_organisations_of_country() returns trigger language plpgsql as $$
begin
  perform move_organisations(array(
    select c.organisation_id from organisation_country c join new_rows n on c.country_code = n.code));
  return null;
end $$;

-- Named to run after the mark_... triggers, so that every writer locks versions of projects before those of organisations.
create trigger move_insert after insert on organisation
  referencing new table as new_rows for each statement execute function move_own_organisation();
create trigger move_update after update on organisation
  referencing new table as new_rows for each statement execute function move_own_organisation();
create trigger move_update after update on theme
  referencing new table as new_rows for each statement execute function move_organisations_of_theme();
create trigger move_update after update on country
  referencing new table as new_rows for each statement execute function move_organisations_of_country();

do $$
declare
  name text;
begin
  foreach name in array array['organisation_theme', 'organisation_country'] loop
    execute format('create trigger move_insert after insert on %I referencing new table as new_rows
      for each statement execute function move_organisation_of_part()', name);
    execute format('create trigger move_update after update on %I referencing new table as new_rows
      for each statement execute function move_organisation_of_part()', name);
    execute format('create trigger move_delete after delete on %I referencing old table as old_rows
      for each statement execute function move_organisation_of_part()', name);
  end loop;
end $$;

-- Where projects are counted here (and not stated by the source), the organisation's own record moves with its siblings'.
create or replace function move_versions_of_siblings(organisations bigint[]) returns void language sql as $$
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
  where v.project_id = sibling.project_id;
  select move_organisations(array(
    select id from organisation
    where id = any (organisations) and (stated_total_projects is null or stated_active_projects is null)))
$$;

-- Full text of active projects only: what search returns. Long texts are cut, since a tsvector has a limit.
create table project_search (
  project_id bigint primary key references project (id) on delete cascade,
  document tsvector not null
);
create index project_search_document on project_search using gin (document);

create function refresh_search(ids bigint[]) returns void language sql as $$
  delete from project_search s
  where s.project_id = any (ids) and not exists (select from project p where p.id = s.project_id and p.active);
  insert into project_search (project_id, document)
  select p.id,
    setweight(to_tsvector('english', left(p.title, 20000)), 'A')
      || setweight(to_tsvector('english', left(concat_ws(' ', o.name, p.country_name, (
        select string_agg(c.name, ' ' order by k.position)
        from project_country k join country c on c.code = k.country_code where k.project_id = p.id
      )), 20000)), 'B')
      || setweight(to_tsvector('english', left(coalesce(p.summary, ''), 20000)), 'B')
      || setweight(to_tsvector('english', left(coalesce(p.need, ''), 20000)), 'C')
      || setweight(to_tsvector('english', left(coalesce(p.activities, ''), 20000)), 'C')
  from project p left join organisation o on o.id = p.organisation_id
  where p.id = any (ids) and p.active
  order by p.id
  on conflict (project_id) do update set document = excluded.document
    where project_search.document <> excluded.document
$$;

create function search_projects() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform refresh_search(array(select id from new_rows where active));
  else
    perform refresh_search(array(
      select n.id from old_rows o join new_rows n using (id)
      where row (o.active, o.title, o.summary, o.need, o.activities, o.country_name, o.organisation_id)
        is distinct from row (n.active, n.title, n.summary, n.need, n.activities, n.country_name, n.organisation_id)));
  end if;
  return null;
end $$;

create function search_projects_of_organisation() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(
    select p.id from old_rows o join new_rows n using (id) join project p on p.organisation_id = n.id
    where p.active and o.name <> n.name));
  return null;
end $$;

create function search_projects_of_country() returns trigger language plpgsql as $$
begin
  perform refresh_search(array(
    select k.project_id from old_rows o join new_rows n using (code) join project_country k on k.country_code = n.code
    where o.name <> n.name));
  return null;
end $$;

create function search_projects_by_country() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform refresh_search(array(select distinct project_id from old_rows));
  else
    perform refresh_search(array(select distinct project_id from new_rows));
  end if;
  return null;
end $$;

create trigger search_insert after insert on project
  referencing new table as new_rows for each statement execute function search_projects();
create trigger search_update after update on project
  referencing new table as new_rows old table as old_rows for each statement execute function search_projects();
create trigger search_update after update on organisation
  referencing new table as new_rows old table as old_rows
  for each statement execute function search_projects_of_organisation();
create trigger search_update after update on country
  referencing new table as new_rows old table as old_rows for each statement execute function search_projects_of_country();
create trigger search_insert after insert on project_country
  referencing new table as new_rows for each statement execute function search_projects_by_country();
create trigger search_delete after delete on project_country
  referencing old table as old_rows for each statement execute function search_projects_by_country();

-- Candidates of the featured list, chosen once an hour for all processes; the list shows the first that are still active.
create table featured_hour (
  hour timestamptz primary key,
  project_ids bigint[] not null
);

-- What is stored already.
select move_organisations(array(select id from organisation));
select refresh_search(array(select id from project where active));
