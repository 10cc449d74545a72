-- compatible
-- A release has the sums of the money of all activities, and reading their entries for them takes most of its plan.
alter table activity_rows add column flows jsonb;
comment on column activity_rows.flows is 'The money of the activity by currency and kind: in, partners, expenditure, budget; null: an earlier version made the rows.';
