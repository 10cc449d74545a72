-- compatible
-- Sources: files that are fetched on a schedule and imported.
create table import_source (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  kind text not null,
  location text not null,
  schedule text not null,
  reading jsonb not null default '{}',
  complete boolean not null default false,
  guard_percent integer not null default 5 check (guard_percent between 0 and 100),
  secret_file text,
  host_key text,
  next_due timestamptz not null,
  lease_owner text,
  lease_until timestamptz,
  tried_at timestamptz,
  outcome text check (outcome in ('imported', 'unchanged', 'held', 'failed')),
  message text,
  import_id bigint,
  held jsonb
);
comment on table import_source is 'Where data comes from by itself, and what became of the last file.';
comment on column import_source.location is 'A folder or file of the worker, or an address with https, s3 or sftp.';
comment on column import_source.schedule is 'A cron expression in PUBLISH_TIMEZONE.';
comment on column import_source.reading is 'How its files are read: columns, decimal sign, days, encoding.';
comment on column import_source.complete is 'Each file has all records: what is missing in it ends.';
comment on column import_source.guard_percent is 'A file that ends or changes more of the records than this is held.';
comment on column import_source.secret_file is 'The file with the password, token or key; never the secret.';
comment on column import_source.held is 'What a file would change that waits for a person.';

create table import_source_file (
  source text not null references import_source on delete cascade on update cascade,
  name text not null,
  version text,
  sha256 text not null,
  refused bigint not null,
  read_at timestamptz not null,
  primary key (source, name)
);
comment on table import_source_file is 'The last version of each file of a source that was dealt with.';
comment on column import_source_file.version is 'What tells that the file is another one: ETag and day, or size and time.';
comment on column import_source_file.refused is 'Refused records; with any, the same file is read again.';

create table import_source_record (
  source text not null references import_source on delete cascade on update cascade,
  digest uuid not null,
  key text not null,
  content uuid not null,
  primary key (source, digest)
);
comment on table import_source_record is 'What a source has said last: the key of each record, and a digest of it.';
comment on column import_source_record.key is 'The field and value that name the record; of a gift, a hash of its reference.';

create table import_source_reading (
  source text not null references import_source on delete cascade on update cascade,
  digest uuid not null,
  key text not null,
  content uuid not null,
  primary key (source, digest)
);
comment on table import_source_reading is 'The records of the file that is being read, until they are import_source_record.';
