-- compatible
-- An operator has paused the schedule: its instants are left out until it is resumed.
alter table schedule add column paused_at timestamptz;
