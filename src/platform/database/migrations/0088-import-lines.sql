-- compatible
-- On which line of which file a record stands that an import has created or changed, so that every published value leads there.
create table import_line (
  import_id bigint not null references import (id) on delete cascade,
  kind text not null,
  key text not null,
  file text not null,
  line integer not null,
  primary key (kind, key, import_id)
);
comment on table import_line is 'Lines of the records that imports have created or changed, but for gifts, of which there are too many.';
comment on column import_line.key is 'What the file calls the record: its id, externalId, reference or address.';
