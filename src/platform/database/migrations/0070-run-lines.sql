-- compatible
-- What the page of a run tells: what happened to it, and that a person has asked to cancel it.
alter table run add column cancel_asked boolean not null default false;

create table run_line (
  id bigint generated always as identity primary key,
  run_id bigint not null references run (id) on delete cascade,
  at timestamptz not null,
  level text not null check (level in ('info', 'warn', 'error')),
  message text not null,
  details jsonb not null default '{}'
);
create index run_line_run on run_line (run_id, id);
comment on table run_line is 'What happened to each publication run: the lines of its log that name it.';
