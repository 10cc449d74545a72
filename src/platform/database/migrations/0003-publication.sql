-- Publication: which projects changed, what was rendered from them, which runs and releases there were.

create sequence project_version_seq;

-- One row per project, for ever: its version moves with every write that a published text can depend on, whatever table
-- it happened in. `dirty` says that the rendering has not caught up; it is cleared only together with the version that
-- was rendered, so that a transaction committing late is never missed.
create table project_version (
  project_id bigint primary key references project (id) on delete cascade,
  version bigint not null,
  changed_at timestamptz not null,
  dirty boolean not null
);
create index project_version_dirty on project_version (project_id) where dirty;
create index project_version_changed on project_version (changed_at, project_id);

-- Marks projects in id order, so that two writers of overlapping sets cannot deadlock. Locking the existing rows first
-- (also in order) makes the insert's conflict path safe in the same way.
create function mark_projects(ids bigint[]) returns void language sql as $$
  insert into project_version (project_id, version, changed_at, dirty)
  select p.id, nextval('project_version_seq'), clock_timestamp(), true
  from (select id from project where id = any (ids) order by id) p
  on conflict (project_id) do update
    set version = excluded.version, changed_at = excluded.changed_at, dirty = true
$$;

create function mark_changed_projects() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform mark_projects(array(select distinct project_id from new_rows));
  elsif tg_op = 'DELETE' then
    perform mark_projects(array(select distinct project_id from old_rows));
  else
    perform mark_projects(array(select project_id from new_rows union select project_id from old_rows));
  end if;
  return null;
end $$;

create function mark_own_project() returns trigger language plpgsql as $$
begin
  perform mark_projects(array(select id from new_rows));
  return null;
end $$;

create function mark_projects_of_organisation() returns trigger language plpgsql as $$
begin
  perform mark_projects(array(
    select p.id from project p join new_rows o on p.organisation_id = o.id
    union
    select m.project_id from donation_month m join new_rows o on m.funder_id = o.id
    union
    select d.project_id from disbursement d join new_rows o on d.receiver_id = o.id));
  return null;
end $$;

create function mark_projects_of_organisation_part() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform mark_projects(array(
      select p.id from project p where p.organisation_id in (select organisation_id from old_rows)));
  else
    perform mark_projects(array(
      select p.id from project p where p.organisation_id in (select organisation_id from new_rows)));
  end if;
  return null;
end $$;

create function mark_projects_of_theme() returns trigger language plpgsql as $$
begin
  perform mark_projects(array(
    select t.project_id from project_theme t join new_rows n on t.theme_id = n.id
    union
    select p.id from project p join organisation_theme t using (organisation_id) join new_rows n on t.theme_id = n.id));
  return null;
end $$;

create function mark_projects_of_country() returns trigger language plpgsql as $$
begin
  perform mark_projects(array(
    select c.project_id from project_country c join new_rows n on c.country_code = n.code
    union
    select p.id from project p join organisation_country c using (organisation_id) join new_rows n
      on c.country_code = n.code));
  return null;
end $$;

create function mark_projects_of_report() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform mark_projects(array(select r.project_id from progress_report r join old_rows o on r.id = o.report_id));
  else
    perform mark_projects(array(select r.project_id from progress_report r join new_rows n on r.id = n.report_id));
  end if;
  return null;
end $$;

create trigger mark_insert after insert on project
  referencing new table as new_rows for each statement execute function mark_own_project();
create trigger mark_update after update on project
  referencing new table as new_rows for each statement execute function mark_own_project();

do $$
declare
  name text;
begin
  foreach name in array array['project_country', 'project_theme', 'photo', 'video', 'donation_option',
    'progress_report', 'donation_month', 'disbursement']
  loop
    execute format('create trigger mark_insert after insert on %I referencing new table as new_rows
      for each statement execute function mark_changed_projects()', name);
    execute format('create trigger mark_update after update on %I referencing new table as new_rows old table as old_rows
      for each statement execute function mark_changed_projects()', name);
    execute format('create trigger mark_delete after delete on %I referencing old table as old_rows
      for each statement execute function mark_changed_projects()', name);
  end loop;
  foreach name in array array['organisation_theme', 'organisation_country'] loop
    execute format('create trigger mark_insert after insert on %I referencing new table as new_rows
      for each statement execute function mark_projects_of_organisation_part()', name);
    execute format('create trigger mark_delete after delete on %I referencing old table as old_rows
      for each statement execute function mark_projects_of_organisation_part()', name);
  end loop;
end $$;

create trigger mark_update after update on organisation
  referencing new table as new_rows for each statement execute function mark_projects_of_organisation();
create trigger mark_update after update on theme
  referencing new table as new_rows for each statement execute function mark_projects_of_theme();
create trigger mark_update after update on country
  referencing new table as new_rows for each statement execute function mark_projects_of_country();
create trigger mark_insert after insert on report_image
  referencing new table as new_rows for each statement execute function mark_projects_of_report();
create trigger mark_delete after delete on report_image
  referencing old table as old_rows for each statement execute function mark_projects_of_report();

-- The ledger of publication runs: the memory that the queue is not. One row per due instant of a schedule.
create table run (
  id bigint generated always as identity primary key,
  trigger text not null check (trigger in ('schedule', 'start', 'manual', 'watchdog')),
  -- The schedule's name and the instant it was due at; null for a run that a person asked for.
  schedule text,
  due_at timestamptz,
  force boolean not null default false,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'published', 'unchanged', 'held', 'failed')),
  -- Counts the times that the run was taken up. Work done for an older attempt is void: this number is the fence
  -- between a worker that was taken for dead and the one that took over.
  attempt integer not null default 0,
  -- What the running attempt does: many workers render shards, one of them publishes the release.
  stage text check (stage in ('render', 'publish')),
  -- Whoever holds the lease works on the run; a lease that has run out means that its owner is dead. On a queued run it
  -- says until when the queue is trusted to deliver it.
  lease_owner text,
  lease_until timestamptz,
  queued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  rendered integer not null default 0,
  changed integer not null default 0,
  held integer not null default 0,
  -- What the publishing worker last reported: {"stage": "assemble", "done": 10, "total": 20}.
  progress jsonb,
  release_id text,
  outcome jsonb,
  error_code text,
  error_message text,
  unique (schedule, due_at),
  check ((schedule is null) = (due_at is null))
);
create index run_unfinished on run (id) where state in ('queued', 'running');
-- One publication at a time, whatever the number of workers.
create unique index run_running on run (state) where state = 'running';

-- The shards of each attempt with what came of them: counts of a shard that is done twice are kept once.
create table run_shard (
  run_id bigint not null references run (id) on delete cascade,
  attempt integer not null,
  from_id bigint not null,
  to_id bigint not null,
  -- Share of the shard that is done, 0 to 100.
  percent integer not null default 0,
  rendered integer not null default 0,
  changed integer not null default 0,
  held integer not null default 0,
  primary key (run_id, attempt, from_id)
);

-- The schedule in force and since when: instants before that are none of its business, so a changed schedule neither
-- runs twice nor makes up for instants that it never had.
create table schedule (
  name text primary key,
  expression text not null,
  timezone text not null,
  adopted_at timestamptz not null
);

create table release (
  id text primary key,
  run_id bigint not null references run (id),
  generated_at timestamptz not null,
  state text not null check (state in ('live', 'superseded', 'held')),
  manifest jsonb not null
);
create unique index release_live on release (state) where state = 'live';

-- What was last mapped from each project. `text` is the last valid element; a held rendering keeps it.
create table rendering (
  project_id bigint primary key references project (id) on delete cascade,
  identifier text not null,
  verdict text not null check (verdict in ('valid', 'held')),
  text text,
  content_hash text,
  bytes integer not null default 0,
  -- When the content last changed: the activity's last-updated-datetime.
  last_updated_at timestamptz,
  -- Of the newest mapping, also when it is held: exact counts, and the first few findings, worst first.
  errors integer not null,
  warnings integer not null,
  infos integer not null,
  notice_counts jsonb not null,
  notices jsonb not null,
  input_key text not null,
  -- The first UTC day on which time alone changes the text; null: never.
  valid_until date,
  -- Money that the text reports, for the release guards: {"USD": {"in": "12.00", "out": "3.00"}}.
  money jsonb not null default '{}',
  -- The file that the activity is in, assigned once, for ever (architecture 2.6); null until it is first assembled.
  segment integer check (segment > 0),
  run_id bigint not null references run (id)
);
alter table rendering alter column text set storage external;
create index rendering_valid_until on rendering (valid_until, project_id) where valid_until is not null;
create index rendering_held on rendering (project_id) where verdict = 'held';
create index rendering_segment on rendering (segment, project_id);

-- The Atom feed of one project's reports, rendered with it; no row, no feed.
create table report_feed (
  project_id bigint primary key references project (id) on delete cascade,
  text text not null,
  content_hash text not null,
  entries integer not null,
  bytes integer not null,
  updated_at timestamptz not null,
  -- When the bytes last changed (Last-Modified).
  changed_at timestamptz not null
);
alter table report_feed alter column text set storage external;

-- Identifiers that have been published, append-only (IATI contract, fact 6): never deleted but by reset-demo.
-- A project's segment is assigned here once, for ever.
create table published_identifier (
  identifier text primary key,
  project_id bigint not null unique,
  segment integer not null check (segment > 0),
  first_release_id text not null,
  first_published_at timestamptz not null
);
create index published_identifier_segment on published_identifier (segment, project_id);

-- The project's wire record as ready text (XML element, JSON object), valid while its version is the project's.
create table wire_record (
  project_id bigint primary key references project (id) on delete cascade,
  version bigint not null,
  xml text not null,
  json text not null
);
