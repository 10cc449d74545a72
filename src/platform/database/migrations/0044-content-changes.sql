-- compatible
-- A run in which nothing changed need not read what it would publish: statements that change it leave a mark.

create table content_change (
  kind text not null check (kind in ('activities', 'records'))
);
comment on table content_change is 'Marks of changes since the content of this kind was last read to be published, a row for each statement, so that writers do not wait for each other.';

create function mark_content_change() returns trigger language plpgsql as $$
begin
  insert into content_change (kind) values (tg_argv[0]);
  return null;
end $$;
alter function mark_content_change() security definer set search_path from current;

-- The segment alone is no content: each run assigns segments before it reads.
create trigger mark_content after insert or delete or truncate or update of text, verdict on rendering
  for each statement execute function mark_content_change('activities');
create trigger mark_content after insert or delete or truncate or update on wire_record
  for each statement execute function mark_content_change('records');
create trigger mark_content after insert or delete or truncate or update on organisation_record
  for each statement execute function mark_content_change('records');
