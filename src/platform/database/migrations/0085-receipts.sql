-- compatible
alter table import add column receipt jsonb;
comment on column import.receipt is 'Rows of its files and what became of them; sums by currency, kind and month before and after; a hash of the recipe. Null: of an earlier version.';
