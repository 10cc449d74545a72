-- What metrics count stays true when rows of old runs are pruned.
alter table pruned_run
  add column rendered bigint not null default 0,
  add column watchdog bigint not null default 0;
