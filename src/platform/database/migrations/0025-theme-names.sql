-- compatible
-- A theme keeps its name: records that spell it otherwise add an alias instead of renaming it.

alter table theme add column name_source row_source not null default 'import';
alter table theme alter column name_source set default 'local';
comment on column theme.name_source is 'Who named it. The list of themes of an upstream renames a theme unless this is local, the operator; plain SQL writes local.';

create table theme_alias (
  name text primary key check (name <> ''),
  theme_id text not null references theme on delete cascade
);
create unique index theme_alias_any_case on theme_alias (lower(name));
create index theme_alias_theme on theme_alias (theme_id);
comment on table theme_alias is 'Other spellings of a theme''s name: a project record that has only a name is given the theme.';
comment on column theme_alias.name is 'The other spelling; letter case does not matter.';
comment on column theme_alias.theme_id is 'The theme; a row of theme.';
