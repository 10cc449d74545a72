-- compatible
-- What another publisher's organisation file said before the publisher moved here.
create table kept_organisation (
  identifier text primary key,
  text text not null,
  moved_on date not null
);
comment on table kept_organisation is 'The records of the organisation file that was published before the publisher moved here.';
comment on column kept_organisation.text is 'The element iati-organisation, with its namespaces.';
comment on column kept_organisation.moved_on is 'The UTC day of its first import: what ended before is history.';

create trigger mark_write after insert or update or delete or truncate on kept_organisation for each statement
  execute function mark_content('organisations');

do $$
begin
  execute replace(pg_get_functiondef('import_tables'::regproc), '(23, ''kept_activity'', ''project_id'', '''', '''')',
    '(23, ''kept_activity'', ''project_id'', '''', ''''),
    (24, ''kept_organisation'', ''identifier'', '''', '''')');
  execute replace(pg_get_functiondef('import_spared'::regproc), 'when name = ''project'' then ''x.id = any ($2)''',
    'when name = ''project'' then ''x.id = any ($2)''
    when name = ''kept_organisation'' then ''false''');
end $$;

create trigger remember_insert after insert on kept_organisation referencing new table as new_rows
  for each statement execute function remember_change('identifier', '', '');
create trigger remember_delete after delete on kept_organisation referencing old table as old_rows
  for each statement execute function remember_change('identifier', '', '');
create trigger remember_update after update on kept_organisation referencing old table as old_rows new table as new_rows
  for each statement execute function remember_change('identifier', '', '');
