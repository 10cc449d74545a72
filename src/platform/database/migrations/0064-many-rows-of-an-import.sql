-- compatible
-- What an import changes is remembered in a time that grows with its rows, and no faster.

create or replace function remember_change() returns trigger language plpgsql as $$
declare
  importing bigint := nullif(current_setting('giving.import', true), '')::bigint;
  others text[];
  unkept text[] := string_to_array(tg_argv[1], ' ');
  loose text[] := string_to_array(tg_argv[2], ' ');
  firm text[];
begin
  if importing is null then return null; end if;
  others := import_columns(tg_table_name, tg_argv[0]);
  firm := case when tg_argv[2] <> '' then import_columns(tg_table_name, tg_argv[2]) end;
  if tg_op = 'INSERT' then
    insert into import_change as c (import_id, table_name, key, after, loose)
    select importing, tg_table_name, n.row - others, md5((n.row - unkept - loose)::text)::uuid, n.row - firm
    from (select to_jsonb(new_rows) as row from new_rows offset 0) n
    on conflict (import_id, table_name, key) do update set after = excluded.after, loose = excluded.loose;
  elsif tg_op = 'UPDATE' then
    -- Planned anew for each statement, for the number of its rows; by columns, which can be hashed.
    execute format('
      insert into import_change as c (import_id, table_name, key, before, after, loose)
      select $1, %L, r.after - $2, r.before, md5((r.after - $4)::text)::uuid, r.after - $5
      from (select to_jsonb(t) - $3 as before, to_jsonb(k) - $3 as after from old_rows t join new_rows k on %s offset 0) r
      where r.before <> r.after
      on conflict (import_id, table_name, key) do update set after = excluded.after, loose = excluded.loose',
      tg_table_name, replace(import_fits(tg_table_name, tg_argv[0]), '(k)', 'k')) using importing, others, unkept, loose, firm;
  else
    insert into import_change as c (import_id, table_name, key, before)
    select importing, tg_table_name, o.row - others, o.row - unkept
    from (select to_jsonb(old_rows) as row from old_rows offset 0) o
    on conflict (import_id, table_name, key) do update set after = null, loose = null;
  end if;
  return null;
end $$;

-- Whose a table is, is asked for each row that is written: of that table alone.
do $$
declare
  one text;
  asked text := '(select relowner from pg_class where oid = tg_relid) = (select oid from pg_roles where rolname = current_user)';
begin
  foreach one in array array['refuse_nonsense', 'say_what_is_refused'] loop
    execute replace(pg_get_functiondef(one::regproc), asked,
      '(select pg_get_userbyid(relowner) = current_user from pg_class where oid = tg_relid)');
  end loop;
end $$;

-- Rows that later imports would bring back and that refer to rows which import $1 created.
create function import_recalled(undone bigint) returns table (what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint)
language plpgsql stable as $$
#variable_conflict use_column
declare
  one record;
begin
  for one in
    select c.relname::text as child, x.attname::text as child_column, p.name as parent, y.attname::text as parent_column
    from import_tables() p join pg_constraint r on r.confrelid = p.name::regclass and r.contype = 'f'
      join pg_class c on c.oid = r.conrelid join import_tables() t on t.name = c.relname
      join pg_attribute x on x.attrelid = r.conrelid and x.attnum = r.conkey[1]
      join pg_attribute y on y.attrelid = r.confrelid and y.attnum = r.confkey[1]
    where exists (select from import_change c where c.import_id = undone and c.table_name = p.name and c.before is null)
    order by p.place, t.place
  loop
    return query
      select one.parent, c.key, one.child, min(l.key::text)::jsonb, max(l.import_id), count(*)
      from import_change c join import_change l
        on l.import_id > undone and l.table_name = one.child and l.before ->> one.child_column = c.key ->> one.parent_column
      where c.import_id = undone and c.table_name = one.parent and c.before is null and c.after is not null
        and not exists (select from published_identifier i
          where one.parent = 'project' and i.project_id = (c.key ->> 'id')::bigint and i.withdrawn_at is null)
      group by c.key order by c.key limit 100;
    if found then return; end if;
  end loop;
end $$;
