-- compatible
-- A project may bring the IATI identifier under which it is published elsewhere; once it is published here, it stays.
alter table project add column iati_identifier text;
alter table project add constraint project_iati_identifier_check check (
  -- ASCII without quotes, and what neither XML nor an address has as it is.
  iati_identifier ~ '^[!#-%''-.0-;=@-\[\]-{}~]+$'
  and strpos(iati_identifier, '-') > 1 and right(iati_identifier, 1) <> '-' and length(iati_identifier) <= 255
) not valid;
comment on column project.iati_identifier is 'IATI identifier under which the project is published elsewhere already; null: the publisher''s, a hyphen and the id. Never changed once it is published.';
comment on constraint project_iati_identifier_check on project is
  'iati_identifier: an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \';
create unique index project_iati_identifier on project (iati_identifier);

-- What is expected instead of this identifier; null: it may be the project's. `configured` publishes where nobody did yet.
create function expected_identifier(project bigint, wanted text, configured text) returns text language sql stable as $$
  with known as (
    select array(select ref from publisher union select configured
      where configured is not null and not exists (select from publisher) order by 1) as refs
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
    when refs <> '{}' and (wanted = any (refs)
        or not exists (select from unnest(refs) ref where starts_with(wanted, ref || '-') and length(wanted) > length(ref) + 1))
      then format('an identifier that begins with %s- (giving publisher change tells of another identifier of the publisher)',
        array_to_string(refs, '- or '))
    when exists (select from other) then
      format('an identifier of its own, and project %s has this one', (select min(id) from other))
  end
  from known left join published_identifier i on i.project_id = $1
$$;

create function refuse_identifier() returns trigger language plpgsql as $$
declare
  expected text;
begin
  if tg_op = 'UPDATE' and new.iati_identifier is not distinct from old.iati_identifier
    or tg_op = 'INSERT' and new.iati_identifier is null
  then
    return new;
  end if;
  expected := expected_identifier(new.id, new.iati_identifier, null);
  if expected is not null then
    raise exception 'project.iati_identifier: expected %, got %', expected, coalesce(new.iati_identifier, 'null')
      using errcode = 'check_violation', table = 'project', column = 'iati_identifier';
  end if;
  return new;
end $$;

-- Triggers of a table run in the order of their names: this one after those that see what is no identifier at all.
create trigger say_why_not_identifier before insert or update of iati_identifier on project
  for each row execute function refuse_identifier();

-- A role that writes with plain SQL may read none of the tables that are asked.
do $$
begin
  execute format('alter function refuse_identifier() security definer set search_path = %I, pg_temp', current_schema());
  execute format('alter function expected_identifier(bigint, text, text) set search_path = %I, pg_temp', current_schema());
end $$;
