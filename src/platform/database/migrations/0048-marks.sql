-- compatible
-- What marks what: a write leaves marks for those who work later (rendering, lists of hits, releases), in the writer's
-- transaction. test/integration/platform/marks.txt lists the marks of every write.

drop function if exists
  mark_all_segments(), mark_changed_projects(), mark_content_change(), mark_own_project(), mark_projects_of_country(),
  mark_projects_of_organisation(), mark_projects_of_organisation_part(), mark_projects_of_report(),
  mark_projects_of_theme(), mark_published_set(), mark_search_change(), mark_segments(), mark_segments_of_rows(), move_organisation_of_part(),
  move_organisations_of_country(), move_organisations_of_theme(), move_own_organisation(), move_siblings(),
  search_projects(), search_projects_by_country(), search_projects_of_country(), search_projects_of_organisation()
  cascade;

-- Moves the version of projects and makes them dirty, once a transaction: whoever reads the version sees all of a
-- transaction or nothing of it. A mark that this very transaction has cleared (dirty is false) is set again. Rows are
-- locked in the order of ids, so that two writers of overlapping sets cannot deadlock.
create or replace function mark_projects(ids bigint[]) returns void language plpgsql as $$
begin
  insert into project_version (project_id, version, changed_at, dirty)
  select p.id, nextval('project_version_seq'), clock_timestamp(), true
  from (select id from project where id = any (ids) order by id) p
  where not exists (
    select from project_version v
    where v.project_id = p.id and v.dirty and v.xmin = pg_current_xact_id_if_assigned()::xid)
  on conflict (project_id) do update
    set version = excluded.version, changed_at = excluded.changed_at, dirty = true;
end $$;

create or replace function move_organisations(ids bigint[]) returns void language sql as $$
  insert into organisation_version (organisation_id, version, changed_at)
  select o.id, nextval('project_version_seq'), clock_timestamp()
  from (select id from organisation where id = any (ids) order by id) o
  on conflict (organisation_id) do update set version = excluded.version, changed_at = excluded.changed_at
$$;

-- A project's record shows how many projects its organisation has. Where that is counted here (and not stated by the
-- source), a sibling that appears, moves, goes or changes `active` changes the record: its version moves, and that of the
-- organisation. An organisation has no active projects where the store has none, whatever its source states: the record of
-- a sibling changes with the first and the last active one. The feeds show no such counts, so `dirty` stays as it is.
create or replace function move_versions_of_siblings(organisations bigint[]) returns void language sql as $$
  with counted as (
    select o.id from organisation o
    where o.id = any (organisations)
      and (o.stated_total_projects is null or o.stated_active_projects is null
        or (select count(*) from (select from project a where a.organisation_id = o.id and a.active limit 2) active) < 2)
  ), sibling as (
    select s.project_id
    from project_version s join project p on p.id = s.project_id
    where p.organisation_id in (select id from counted)
    order by s.project_id
    for update of s
  ), moved as (
    update project_version v set version = nextval('project_version_seq'), changed_at = clock_timestamp()
    from sibling where v.project_id = sibling.project_id
  )
  select move_organisations(array(select id from counted))
$$;

-- Long texts are cut, since a tsvector has a limit.
create or replace function refresh_search(ids bigint[]) returns void language sql as $$
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

-- What marks what, table by table. `changed` are rows that were inserted or deleted, and updated ones as they are now;
-- `old_rows` are updated rows as they were. A statement is prepared for each trigger when it first runs there, so it may
-- name columns that other tables do not have. Marks are made in one order, so that writers do not deadlock.
create function mark() returns trigger language plpgsql as $$
declare
  searched constant text[] := array['project_search', 'project_country', 'project_theme'];
  touched bigint[];
  dirty bigint[];
  organisations bigint[];
  siblings bigint[];
  documents bigint[];
  hits bigint[];
  segments integer[];
begin
  if tg_op = 'TRUNCATE' then
    if tg_table_name = any (searched) then
      hits := array[null::bigint];
    else
      segments := array(select segment from segment_summary);
    end if;
  elsif not exists (select from changed) then
    -- Most writes to a project run statements on its tables that change no row.
    return null;
  elsif tg_table_name = 'project' then
    if tg_op = 'UPDATE' then
      dirty := array(select id from changed);
      siblings := array(
        select unnest(array[o.organisation_id, n.organisation_id]) from old_rows o join changed n using (id)
        where o.organisation_id is distinct from n.organisation_id or o.active <> n.active);
      documents := array(
        select n.id from old_rows o join changed n using (id)
        where row (o.active, o.title, o.summary, o.need, o.activities, o.country_name, o.organisation_id)
          is distinct from row (n.active, n.title, n.summary, n.need, n.activities, n.country_name, n.organisation_id));
    else
      siblings := array(select distinct organisation_id from changed where organisation_id is not null);
      if tg_op = 'INSERT' then
        dirty := array(select id from changed);
        documents := array(select id from changed where active);
      end if;
    end if;
  elsif tg_table_name = 'organisation' then
    organisations := array(select id from changed);
    if tg_op = 'UPDATE' then
      dirty := array(
        select p.id from project p join changed o on p.organisation_id = o.id
        union select m.project_id from donation_month m join changed o on m.funder_id = o.id
        union select d.project_id from disbursement d join changed o on d.receiver_id = o.id);
      documents := array(
        select p.id from old_rows o join changed n using (id) join project p on p.organisation_id = n.id
        where p.active and o.name <> n.name);
    end if;
  elsif tg_table_name in ('organisation_country', 'organisation_theme') then
    organisations := array(select distinct organisation_id from changed);
    if tg_op <> 'UPDATE' then
      dirty := array(select id from project where organisation_id = any (organisations));
    end if;
  elsif tg_table_name = 'country' then
    dirty := array(
      select c.project_id from project_country c join changed n on c.country_code = n.code
      union select p.id from project p join organisation_country c using (organisation_id) join changed n
        on c.country_code = n.code);
    organisations := array(
      select c.organisation_id from organisation_country c join changed n on c.country_code = n.code);
    documents := array(
      select k.project_id from old_rows o join changed n using (code) join project_country k on k.country_code = n.code
      where o.name <> n.name);
  elsif tg_table_name = 'theme' then
    dirty := array(
      select t.project_id from project_theme t join changed n on t.theme_id = n.id
      union select p.id from project p join organisation_theme t using (organisation_id) join changed n
        on t.theme_id = n.id);
    organisations := array(select t.organisation_id from organisation_theme t join changed n on t.theme_id = n.id);
  elsif tg_table_name = 'report_image' then
    dirty := array(select r.project_id from progress_report r join changed c on r.id = c.report_id);
  elsif tg_table_name = 'rendering' then
    segments := array(select distinct segment from changed where segment is not null);
    if tg_op = 'UPDATE' then
      segments := array(select unnest(segments) union select segment from old_rows where segment is not null);
    else
      -- Most statements that insert renderings update those that are there.
      insert into content_change (kind)
      select 'organisations' where exists (select from changed where text is not null);
    end if;
  elsif tg_table_name = 'activity_rows' then
    segments := array(
      select distinct r.segment from changed join rendering r using (project_id) where r.segment is not null);
  else
    touched := array(select distinct project_id from changed);
    if tg_op = 'UPDATE' then
      touched := array(select unnest(touched) union select project_id from old_rows);
    end if;
    if tg_table_name <> 'project_search' then
      dirty := touched;
    end if;
    if tg_table_name = 'project_country' and tg_op <> 'UPDATE' then
      documents := touched;
    end if;
    -- A remembered list of hits is mended by looking at the projects named; null: any number of them.
    if tg_table_name = any (searched) then
      hits := case when cardinality(touched) > 1000 then array[null::bigint] else touched end;
    end if;
  end if;

  if cardinality(dirty) > 0 then perform mark_projects(dirty); end if;
  if cardinality(organisations) > 0 then perform move_organisations(organisations); end if;
  if cardinality(siblings) > 0 then perform move_versions_of_siblings(siblings); end if;
  if cardinality(documents) > 0 then perform refresh_search(documents); end if;
  if cardinality(hits) > 0 then
    insert into search_change (project_id) select unnest(hits) on conflict do nothing;
  end if;
  if cardinality(segments) > 0 then
    insert into segment_change (segment) select unnest(segments);
  end if;
  return null;
end $$;

-- A trigger keeps only the rows that the function reads.
do $$
declare
  name text;
  events text[];
  event text;
begin
  for name, events in
    select unnest(tables), string_to_array(each, ', ') from (values
      (array['project_country', 'project_theme', 'project_search', 'rendering', 'activity_rows'],
        'insert, update, delete, truncate'),
      (array['project', 'project_sdg', 'photo', 'video', 'donation_option', 'progress_report', 'donation_month',
        'disbursement', 'payout_plan', 'organisation_country', 'organisation_theme'], 'insert, update, delete'),
      (array['organisation'], 'insert, update'),
      (array['country', 'theme'], 'update'),
      (array['report_image'], 'insert, delete')
    ) marked (tables, each)
  loop
    foreach event in array events loop
      execute format('create trigger %I after %s on %I %s for each statement execute function mark()',
        'mark_' || event, event, name, case event
          when 'insert' then 'referencing new table as changed'
          when 'delete' then 'referencing old table as changed'
          when 'update' then 'referencing new table as changed' || case
            when name not in ('activity_rows', 'organisation_country', 'organisation_theme', 'theme')
              then ' old table as old_rows' else '' end
          else '' end);
    end loop;
  end loop;
end $$;

-- A statement that may change the content of a kind of file leaves a mark, whatever its rows: no rows are kept for it.
create function mark_content() returns trigger language plpgsql as $$
begin
  insert into content_change (kind) values (tg_argv[0]);
  return null;
end $$;

-- The segment alone is no content: each run assigns segments before it reads.
create trigger mark_activities after insert or delete or truncate or update of text, verdict on rendering
  for each statement execute function mark_content('activities');
create trigger mark_records after insert or update or delete or truncate on wire_record
  for each statement execute function mark_content('records');
create trigger mark_records after insert or update or delete or truncate on organisation_record
  for each statement execute function mark_content('records');
create trigger mark_organisations after insert or update or delete or truncate on donation_month
  for each statement execute function mark_content('organisations');
create trigger mark_organisations after insert or update or delete or truncate on disbursement
  for each statement execute function mark_content('organisations');
create trigger mark_organisations after insert or update or delete or truncate on payout_plan
  for each statement execute function mark_content('organisations');
create trigger mark_organisations after truncate on rendering
  for each statement execute function mark_content('organisations');
create trigger mark_organisations_of_updated after update on rendering for each row
  when ((old.text is null) <> (new.text is null) or old.identifier <> new.identifier)
  execute function mark_content('organisations');
create trigger mark_organisations after update on organisation for each row
  when ((old.name, old.ein, old.org_ref, old.url) is distinct from (new.name, new.ein, new.org_ref, new.url))
  execute function mark_content('organisations');
create trigger mark_organisations after update on project for each row
  when (old.organisation_id is distinct from new.organisation_id)
  execute function mark_content('organisations');

-- A role that writes with plain SQL has no rights on the tables of marks. Temporary tables are looked for last, since
-- anybody can make one of the name of ours.
do $$
declare
  name text;
begin
  foreach name in array array['mark', 'mark_content', 'refuse_deleting_published'] loop
    execute format('alter function %I() security definer set search_path = %I, pg_temp', name, current_schema());
  end loop;
end $$;
