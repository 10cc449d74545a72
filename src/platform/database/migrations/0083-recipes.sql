-- compatible
create table import_recipe (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  -- Text, and no jsonb: the order of its members is that in which people write and compare it.
  recipe json not null,
  saved_by text not null,
  saved_at timestamptz not null
);
comment on table import_recipe is 'Recipes: how files of an office become records, by name.';
comment on column import_recipe.recipe is 'Columns, values, filters and notation, as giving recipes show prints them.';
comment on column import_recipe.saved_by is 'Who saved it.';
