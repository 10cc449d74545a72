-- compatible
-- A donation or refund made here changes a project, so the modifiedDate of its record moves. The date that its record
-- states stays beside it: an import compares that one.

alter table project add column totals_changed_at timestamptz;
