-- compatible
-- What a gift adds to its month, so that one gift can be corrected, and a month that was lost be summed again; null: from before.
alter table imported_gift add column given_on date, add column kind text check (kind in ('gift', 'refund', 'fee')),
  add column amount numeric(18, 3), add column count integer, add column funder_id bigint;
