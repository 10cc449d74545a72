-- What operators do with releases, and what the ledger keeps for them.

-- Why a held release is held, for people.
alter table release add column reason text;

-- What happened to releases, in order, by machine and by hand. While the newest event is a rollback, that rollback stands:
-- `other_id` is the release that it took down.
create table release_event (
  id bigint generated always as identity primary key,
  release_id text not null,
  event text not null check (event in ('published', 'held', 'approved', 'rolled-back')),
  other_id text,
  at timestamptz not null
);
create index release_event_release on release_event (release_id, id);

-- Given up on purpose, by approving a release that lacks it: no release is held for its absence any more.
alter table published_identifier add column withdrawn_at timestamptz;

-- Seconds that the stages of the publishing attempt took: {"render": 1.5, "assemble": 0.8, "commit": 0.1}.
alter table run add column timings jsonb;

-- Runs by outcome whose rows were pruned: totals never go down.
create table pruned_run (
  state text primary key,
  count bigint not null
);
