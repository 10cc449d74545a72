-- Data sync: the mirror of an upstream platform's catalogue, its ledger of runs, and what the mirror knows of each
-- project beyond its record.

-- The ledger of syncs, with the rules of `run`: one row per due instant of a schedule, one running at a time, the attempt
-- as the fence between a worker that was taken for dead and the one that took over.
create table sync_run (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('full', 'incremental')),
  trigger text not null check (trigger in ('schedule', 'start', 'manual', 'watchdog')),
  schedule text,
  due_at timestamptz,
  -- The address that is mirrored; what an earlier run learnt of another address is of no use.
  upstream text not null,
  -- A person has accepted that the upstream offers much less than before.
  accept_loss boolean not null default false,
  -- `skipped`: due while one that does the same was still waiting.
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'held', 'failed', 'skipped')),
  attempt integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  queued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- Where the run goes on, written in the transaction of each page; null before the first and after the last.
  checkpoint jsonb,
  -- Up to when, by the upstream's own clock, its changes are mirrored once this run is done.
  mirrored_until timestamptz,
  requests integer not null default 0,
  pages integer not null default 0,
  records integer not null default 0,
  created integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  deactivated integer not null default 0,
  organisations integer not null default 0,
  galleries integer not null default 0,
  reports integer not null default 0,
  -- Why the run is held.
  reason text,
  error_code text,
  error_message text,
  unique (schedule, due_at),
  check ((schedule is null) = (due_at is null))
);
create index sync_run_unfinished on sync_run (id) where state in ('queued', 'running');
create unique index sync_run_running on sync_run (state) where state = 'running';

-- What a run refused or could not read: the first hundred findings; the run counts them all.
create table sync_notice (
  id bigint generated always as identity primary key,
  run_id bigint not null references sync_run (id) on delete cascade,
  subject text not null,
  field text not null,
  expected text not null,
  got text
);
create index sync_notice_run on sync_notice (run_id, id);

-- What upstream offers, mirrored or refused: hence without a reference to `project`.
create table upstream_project (
  project_id bigint primary key,
  -- The run that first saw it (again), and the last one that did.
  since_run_id bigint not null,
  seen_run_id bigint not null,
  -- False once a whole walk has not met it any more.
  present boolean not null default true,
  -- What the record said of gallery and reports when they were last fetched.
  gallery_key text,
  reports_key text
);

-- What was found out about an upstream by asking it.
create table upstream_trait (
  upstream text primary key,
  understands_modified_since boolean not null,
  detected_at timestamptz not null
);
