-- compatible
-- What a release says of a segment is computed again only when one of its activities changed.

create table segment_summary (
  segment integer primary key,
  version text not null,
  summary jsonb not null
);
comment on table segment_summary is 'What a release says of the activities of a segment; true where segment_change has no mark of the segment.';
comment on column segment_summary.version is 'How it was computed; another version of the program computes it again.';

create table segment_change (
  segment integer not null
);
comment on table segment_change is 'Marks of segments whose renderings or rows changed since their summary, a row for each statement, so that writers do not wait for each other.';

create function mark_segments() returns trigger language plpgsql as $$
begin
  insert into segment_change (segment) select distinct segment from changed where segment is not null;
  return null;
end $$;
alter function mark_segments() security definer set search_path from current;

create trigger mark_inserted_segments after insert on rendering referencing new table as changed
  for each statement execute function mark_segments();
create trigger mark_updated_segments after update on rendering referencing new table as changed
  for each statement execute function mark_segments();
create trigger mark_left_segments after update on rendering referencing old table as changed
  for each statement execute function mark_segments();
create trigger mark_deleted_segments after delete on rendering referencing old table as changed
  for each statement execute function mark_segments();

create function mark_segments_of_rows() returns trigger language plpgsql as $$
begin
  insert into segment_change (segment)
    select distinct r.segment from changed join rendering r using (project_id) where r.segment is not null;
  return null;
end $$;
alter function mark_segments_of_rows() security definer set search_path from current;

create trigger mark_inserted_segments after insert on activity_rows referencing new table as changed
  for each statement execute function mark_segments_of_rows();
create trigger mark_updated_segments after update on activity_rows referencing new table as changed
  for each statement execute function mark_segments_of_rows();
create trigger mark_deleted_segments after delete on activity_rows referencing old table as changed
  for each statement execute function mark_segments_of_rows();

create function mark_all_segments() returns trigger language plpgsql as $$
begin
  insert into segment_change (segment) select segment from segment_summary;
  return null;
end $$;
alter function mark_all_segments() security definer set search_path from current;

create trigger mark_all_segments after truncate on rendering for each statement execute function mark_all_segments();
create trigger mark_all_segments after truncate on activity_rows for each statement execute function mark_all_segments();

insert into segment_change (segment) select distinct segment from rendering where segment is not null;
