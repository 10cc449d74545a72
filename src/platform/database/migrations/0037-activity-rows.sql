-- compatible
-- What the published tables say of each activity, in the bytes that their files are joined from.

create table activity_rows (
  project_id bigint primary key references rendering (project_id) on delete cascade,
  content_hash text not null,
  version integer not null,
  counts integer[] not null,
  hashes bytea not null,
  csv bytea not null,
  parquet bytea not null
);
-- The files are compressed; compressing the pieces too would take longer than copying them.
alter table activity_rows alter column csv set storage external;
alter table activity_rows alter column parquet set storage external;

comment on column activity_rows.content_hash is 'The content of the rendering that the rows were made from; rows of another one are made again.';
comment on column activity_rows.version is 'The version of the tables; rows of another one are made again.';
comment on column activity_rows.counts is 'How many rows each table has, in the order of the tables.';
comment on column activity_rows.hashes is 'Eight bytes for each table, by which a file whose rows are the same is known.';
