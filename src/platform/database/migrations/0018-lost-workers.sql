-- compatible
-- How often in a row the worker of a run was lost without progress, and the run's progress at the last loss: a run that
-- kills its workers is failed instead of taken up for ever. Progress is renderings for a publication, requests for a sync.
alter table run
  add column losses integer not null default 0,
  add column progress_at_loss bigint not null default 0;
alter table sync_run
  add column losses integer not null default 0,
  add column progress_at_loss bigint not null default 0;

-- Workers whose clock differs from the database's by more than a minute: they take no runs. A row is renewed while the
-- clock is wrong, and removed when it is right again.
create table wrong_clock (
  owner text primary key,
  skew_seconds bigint not null,
  seen_at timestamptz not null
);
