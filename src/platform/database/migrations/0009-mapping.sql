-- What the IATI mapping needs beyond the wire format: the goal as it was first seen, planned payouts, the Sustainable
-- Development Goals, emergencies, named places; the permanent places of reports in the archives of their Atom feed.

alter table project
  -- The goal when this store first saw one: IATI reports it as the original budget beside a changed one.
  add column original_goal numeric(18, 3) check (original_goal >= 0),
  -- The emergency that the project answers to, as glidenumber.net writes it.
  add column glide_number text check (glide_number ~ '^[A-Z]{2}-[0-9]{4}-[0-9]{6}-[A-Z]{3}$'),
  -- The populated place that latitude and longitude stand for; never the address of a contact.
  add column location_name text check (location_name <> '');

-- Without the triggers: the project itself has not changed.
alter table project disable trigger user;
update project set original_goal = goal where goal is not null;
alter table project enable trigger user;

create function keep_original_goal() returns trigger language plpgsql as $$
begin
  new.original_goal := new.goal;
  return new;
end $$;
create trigger keep_original_goal before insert or update on project for each row
  when (new.original_goal is null and new.goal is not null) execute function keep_original_goal();

-- Goals (`6`) and targets (`6.1`, `6.b`) of the Sustainable Development Goals that a project works on.
create table project_sdg (
  project_id bigint not null references project (id) on delete cascade,
  code text not null check (code ~ '^[0-9]{1,2}([.][0-9]{1,2}|[.][a-d])?$'),
  primary key (project_id, code)
);

-- Payouts that have been agreed on. One that a disbursement of the same reference fulfils is planned no longer.
create table payout_plan (
  reference text primary key check (reference <> ''),
  project_id bigint not null references project (id) on delete cascade,
  planned_on date not null,
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  source row_source not null
);
create index payout_plan_project on payout_plan (project_id, planned_on, reference);
create index payout_plan_day on payout_plan (planned_on);

do $$
declare
  name text;
begin
  foreach name in array array['project_sdg', 'payout_plan'] loop
    execute format('create trigger mark_insert after insert on %I referencing new table as new_rows
      for each statement execute function mark_changed_projects()', name);
    execute format('create trigger mark_update after update on %I referencing new table as new_rows old table as old_rows
      for each statement execute function mark_changed_projects()', name);
    execute format('create trigger mark_delete after delete on %I referencing old table as old_rows
      for each statement execute function mark_changed_projects()', name);
  end loop;
end $$;

-- What the organisation file adds up by year.
create index disbursement_day on disbursement (disbursed_on) include (amount, currency);
create index donation_month_fee on donation_month (month) include (amount, currency) where kind = 'fee';
-- Organisations with an identifier, in its order (US tax ids in the form that the mapping gives them).
create index organisation_ref on organisation (
  (coalesce(org_ref, 'US-EIN-' || regexp_replace(ein, '[^0-9]', '', 'g')) collate "C"), id
) where org_ref is not null or ein is not null;

-- All that an Atom entry shows of a report but its pictures, so that an archive need not be read to know that it stayed.
alter table progress_report add column digest text not null generated always as (md5(
  title || chr(1) || coalesce(author_name, '') || chr(1) || url || chr(1) || content_html || chr(1)
    || extract(epoch from (published_at - timestamptz '1970-01-01 00:00:00+00'))::text || chr(1)
    || extract(epoch from (updated_at - timestamptz '1970-01-01 00:00:00+00'))::text
)) stored;

-- The place of each report in the archives of the feed of all reports (RFC 5005): 1 to 100 are archive 1, and so on.
-- Given once, oldest first, in the order of arrival from then on. A removed report's place stays empty for ever, so that
-- no other report ever moves; hence without a reference to progress_report.
create table report_place (
  report_id bigint primary key,
  place bigint not null unique check (place > 0)
);
