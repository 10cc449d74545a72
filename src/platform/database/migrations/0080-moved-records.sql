-- compatible
-- Where what was published elsewhere came from, so that who must correct it finds the place; null in what is older.
alter table kept_activity add column file text, add column line integer,
  -- Whether the platform numbered the project itself; what an earlier version imported has named that number already.
  add column own_number boolean not null default true,
  add column formerly text;
comment on column kept_activity.file is 'File that it came from; null: not known.';
comment on column kept_activity.line is 'Line of the file on which the element begins; null: not known.';
comment on column kept_activity.own_number is 'Whether the number of the project is the platform''s own, not one that the import made up.';
comment on column kept_activity.formerly is 'Earlier identifier of the publisher with which that of the activity begins; null: the file or the publisher tells.';
alter table kept_organisation add column file text, add column line integer;
comment on column kept_organisation.file is 'File that it came from; null: not known.';
comment on column kept_organisation.line is 'Line of the file on which the element begins; null: not known.';

-- An identifier that was published elsewhere stays as it is, even where the standard would not allow it anew.
alter table project drop constraint project_iati_identifier_check;
alter table project add constraint project_iati_identifier_check check (
  iati_identifier ~ '^[^[:space:][:cntrl:]]([^[:cntrl:]]*[^[:space:][:cntrl:]])?$' and length(iati_identifier) <= 1000
) not valid;
comment on constraint project_iati_identifier_check on project is
  'iati_identifier: an identifier of at most 1000 characters without line breaks';

-- As before, and a new identifier has the form that the standard wants; one that moves here was published already.
create or replace function expected_identifier(project bigint, wanted text, configured text) returns text language sql stable as $$
  with known as (
    select array(select ref from publisher union select configured
      where configured is not null and not exists (select from publisher) order by 1) as refs,
      coalesce(current_setting('giving.moving', true), '') = 'on'
        or exists (select from kept_activity where project_id = $1) as is_moved
  ), other as (
    select id from project where iati_identifier = wanted and id <> $1
    union all select i.project_id from published_identifier i where i.identifier = wanted and i.project_id <> $1
    -- The identifier that a project gets by default ends with its id.
    union all select r.project_id from rendering r join project p on p.id = r.project_id
      where r.project_id = substring(wanted from '-([0-9]{1,15})$')::bigint and r.identifier = wanted
        and p.iati_identifier is null and p.id <> $1
  )
  select case
    when i.identifier <> coalesce(wanted, '') then
      format('%s, under which project %s was published: a published identifier never changes', i.identifier, $1)
    when wanted is null then null
    when not is_moved and not (wanted ~ '^[!#-%''-.0-;=@-\[\]-{}~]+$'
        and strpos(wanted, '-') > 1 and right(wanted, 1) <> '-' and length(wanted) <= 255)
      then 'an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \'
    when not is_moved and refs <> '{}' and (wanted = any (refs)
        or not exists (select from unnest(refs) ref where starts_with(wanted, ref || '-') and length(wanted) > length(ref) + 1))
      then format('an identifier that begins with %s- (giving publisher change tells of another identifier of the publisher)',
        array_to_string(refs, '- or '))
    when exists (select from other) then
      format('an identifier of its own, and project %s has this one', (select min(id) from other))
  end
  from known left join published_identifier i on i.project_id = $1
$$;
do $$
begin
  execute format('alter function expected_identifier(bigint, text, text) set search_path = %I, pg_temp', current_schema());
end $$;
