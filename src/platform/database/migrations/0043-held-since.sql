-- compatible
-- Since when an activity is held.

alter table rendering add column held_since timestamptz;

update rendering set held_since = run.started_at from run where run.id = rendering.run_id and rendering.verdict = 'held';
