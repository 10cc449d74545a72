-- compatible
alter table import_source_record add column file text;
comment on column import_source_record.file is 'The file whose last version says it; null: none does any more, or it is not known.';
