-- compatible
alter table import_source_file add column ending text;
comment on column import_source_file.ending is 'How it ends where nothing tells that its last row is whole (open, short); empty: as a whole file does; null: not known.';
