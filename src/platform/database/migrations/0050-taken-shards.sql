-- compatible
-- Workers take the shards of a run from its rows. `stage` is of workers from before: it tells their attempts apart.
alter table run_shard add column lease_owner text, add column lease_until timestamptz;
