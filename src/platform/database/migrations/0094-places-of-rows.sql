-- compatible
-- A night in which some tables change reads the rows of these alone.
alter table activity_rows add column ends integer[];
comment on column activity_rows.ends is 'Where the rows of each table end in csv, then where they end in parquet; null: an earlier version made the rows.';
