-- compatible
-- Gifts from files are summed by month when they are read. Of a single gift only hashes are kept, so that it counts once in
-- whatever files it comes; of a month, whether it was made of single gifts or stated as a sum.

create table imported_gift (
  reference_hash bytea primary key check (length(reference_hash) = 32),
  content_hash bytea not null check (length(content_hash) = 32),
  project_id bigint not null references project on delete cascade
);
create index imported_gift_project on imported_gift (project_id);

create table imported_month (
  project_id bigint not null references project on delete cascade,
  month date not null,
  kind text not null,
  funder_id bigint,
  origin text not null check (origin in ('references', 'sum')),
  -- The import that stated the sum: a second sum of the same month in one import would replace the first.
  import_id text,
  constraint imported_month_key unique nulls not distinct (project_id, month, kind, funder_id)
);
