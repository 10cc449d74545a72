-- compatible
-- Stores that publish already keep the first edition of what is assumed, until a person confirms a later one.
insert into store_fact (name, value, recorded_at)
  select 'assumptions', '{"edition":1}', now()
    where exists (select from release) or exists (select from published_identifier) or exists (select from publisher)
  on conflict (name) do nothing;

-- Null: nobody has said. A theme of emergencies that was never asked about has said nothing.
alter table theme alter column humanitarian drop not null, alter column humanitarian drop default;
update theme set humanitarian = null where not humanitarian and sector_code ~ '^7[234]';
comment on column theme.humanitarian is 'Whether activities of this theme are humanitarian in IATI. Null: nobody has said, and the purpose code decides.';
