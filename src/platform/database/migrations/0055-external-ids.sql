-- compatible
-- A platform whose ids are no numbers names its projects, organisations and reports by them; the numbers of the API are given
-- by the store. They begin where no platform numbers its own projects, so that a file with numbers does not meet them.
create sequence given_number_seq start 10000001;

create function new_number(of regclass) returns bigint language plpgsql as $$
declare
  number bigint;
  taken boolean;
begin
  loop
    number := nextval('given_number_seq');
    execute format('select exists (select from %s where id = $1)', of) into taken using number;
    exit when not taken;
  end loop;
  return number;
end $$;

-- A role that writes with plain SQL may not use the sequence itself.
do $$
begin
  execute format('alter function new_number(regclass) security definer set search_path = %I, pg_temp', current_schema());
end $$;

alter table project alter column id set default new_number('project'), add column external_id text;
alter table organisation alter column id set default new_number('organisation'), add column external_id text;
alter table progress_report alter column id set default new_number('progress_report'), add column external_id text;

-- A whole number in a file is a number of the API, so no other id may look like one.
alter table project add constraint project_external_id_check
  check (external_id ~ '^[^[:cntrl:]]{1,200}$' and external_id = btrim(external_id) and external_id !~ '^[1-9][0-9]{0,15}$') not valid;
alter table organisation add constraint organisation_external_id_check
  check (external_id ~ '^[^[:cntrl:]]{1,200}$' and external_id = btrim(external_id) and external_id !~ '^[1-9][0-9]{0,15}$') not valid;
alter table progress_report add constraint progress_report_external_id_check
  check (external_id ~ '^[^[:cntrl:]]{1,200}$' and external_id = btrim(external_id) and external_id !~ '^[1-9][0-9]{0,15}$') not valid;
comment on constraint project_external_id_check on project is
  'external_id: a text of 1 to 200 characters that is no whole number; a whole number goes into id';
comment on constraint organisation_external_id_check on organisation is
  'external_id: a text of 1 to 200 characters that is no whole number; a whole number goes into id';
comment on constraint progress_report_external_id_check on progress_report is
  'external_id: a text of 1 to 200 characters that is no whole number; a whole number goes into id';

create unique index project_external_id on project (external_id);
create unique index organisation_external_id on organisation (external_id);
create unique index progress_report_external_id on progress_report (external_id);
comment on column project.external_id is 'The platform''s own id where it is no whole number, for example a UUID; unique. Files may name the project by it.';
comment on column organisation.external_id is 'The platform''s own id where it is no whole number, for example a UUID; unique. Files may name the organisation by it.';
comment on column progress_report.external_id is 'The platform''s own id where it is no whole number, for example a UUID; unique.';
