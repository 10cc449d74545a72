-- compatible
-- The content of a record no longer depends on the order of the columns in its file.
alter table import_source_reading add column formerly uuid;
comment on column import_source_reading.formerly is 'The content as earlier versions took it, in the order of the columns.';
