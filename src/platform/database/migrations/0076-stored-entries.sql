-- compatible
alter table activity_rows add column entry bytea;
alter table activity_rows alter column entry set storage external;
comment on column activity_rows.entry is 'What the index says of the activity, without its place in a file, and its transactions by month; null: an earlier version made the rows.';
