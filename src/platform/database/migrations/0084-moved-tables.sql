-- compatible
alter table import add column moved jsonb;
comment on column import.moved is 'Of IATI files: what became of the elements of each name, and what is held by which rule.';
