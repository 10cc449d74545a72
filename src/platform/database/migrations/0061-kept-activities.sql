-- compatible
-- What another publisher's file said of a project before it moved here.
create table kept_activity (
  project_id bigint primary key references project (id) on delete cascade,
  text text not null,
  moved_on date not null
);
comment on table kept_activity is 'The IATI activity under which a project was published before it moved here.';
comment on column kept_activity.text is 'The element iati-activity, with its namespaces.';
comment on column kept_activity.moved_on is 'The UTC day of its first import: what ended before is history.';

create trigger mark_insert after insert on kept_activity referencing new table as changed
  for each statement execute function mark();
create trigger mark_update after update on kept_activity referencing new table as changed old table as old_rows
  for each statement execute function mark();
create trigger mark_delete after delete on kept_activity referencing old table as changed
  for each statement execute function mark();
