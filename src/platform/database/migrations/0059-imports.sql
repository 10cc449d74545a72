-- compatible
-- Each import is a row, with what it changed, so that it can be seen and taken back.

create table import (
  id bigint generated always as identity primary key,
  actor text not null,
  origin text not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  state text not null default 'running' check (state in ('running', 'done', 'undone')),
  undone_at timestamptz,
  undone_by text,
  files jsonb not null default '[]',
  records bigint not null default 0,
  created bigint not null default 0,
  changed bigint not null default 0,
  unchanged bigint not null default 0,
  refused bigint not null default 0,
  kept bigint not null default 0,
  problem_count bigint not null default 0,
  problems jsonb not null default '[]',
  check (undone_at is null or state = 'undone')
);

-- A row of a table as it was before an import (null: there was none), and a digest of what the import left (null: nothing).
create table import_change (
  import_id bigint not null,
  table_name text not null,
  key jsonb not null,
  before jsonb,
  after uuid,
  -- Columns that others move too, as the import left them.
  loose jsonb,
  primary key (import_id, table_name, key)
);

-- The import that brought a gift: most rows of an import of gifts are these.
alter table imported_gift add column import_id bigint default nullif(current_setting('giving.import', true), '')::bigint;

-- What another publisher's file said of a project before it moved here.
create table kept_activity (
  project_id bigint primary key references project (id) on delete cascade,
  text text not null,
  moved_on date not null
);
comment on table kept_activity is 'The IATI activity under which a project was published before it moved here.';
comment on column kept_activity.text is 'The element iati-activity, with its namespaces.';
comment on column kept_activity.moved_on is 'The UTC day of its first import: what ended before is history.';

create trigger mark_insert after insert on kept_activity referencing new table as changed
  for each statement execute function mark();
create trigger mark_update after update on kept_activity referencing new table as changed old table as old_rows
  for each statement execute function mark();
create trigger mark_delete after delete on kept_activity referencing old table as changed
  for each statement execute function mark();

-- What an import may write, parents before children. `unkept` columns are not taken back with the row, `loose` ones where nobody else
-- moved them. Totals of projects are remembered by themselves, since others move them all the time.
create function import_tables() returns table (place integer, name text, keys text, unkept text, loose text) language sql immutable as $$
  values
    (1, 'region', 'name', '', ''),
    (2, 'country', 'code', '', ''),
    (3, 'theme', 'id', '', ''),
    (4, 'theme_alias', 'name', '', ''),
    (5, 'organisation', 'id', '', ''),
    (6, 'organisation_version', 'organisation_id', 'version changed_at', ''),
    (7, 'organisation_country', 'organisation_id position', '', ''),
    (8, 'organisation_theme', 'organisation_id position', '', ''),
    (9, 'project', 'id', 'funding number_of_donations remaining totals_changed_at', ''),
    (10, 'project_country', 'project_id position', '', ''),
    (11, 'project_theme', 'project_id position', '', ''),
    (12, 'project_sdg', 'project_id code', '', ''),
    (13, 'video', 'project_id position', '', ''),
    (14, 'donation_option', 'project_id position', '', ''),
    (15, 'photo', 'project_id position', '', ''),
    (16, 'payout_plan', 'reference', '', ''),
    (17, 'progress_report', 'id', '', ''),
    (18, 'report_image', 'report_id position', '', ''),
    (19, 'donation_month', 'project_id month currency kind source funder_id', '', ''),
    (20, 'imported_month', 'project_id month kind funder_id', '', 'import_id'),
    (21, 'imported_gift', 'reference_hash', '', ''),
    (22, 'disbursement', 'reference', '', ''),
    (23, 'kept_activity', 'project_id', '', '')
$$;

create function import_columns(name text, except_these text) returns text[] language sql stable as $$
  select coalesce(array_agg(attname::text order by attnum), '{}') from pg_attribute
  where attrelid = name::regclass and attnum > 0 and not attisdropped and attname <> all (string_to_array(except_these, ' '))
$$;

-- Only what is written while an import is named is remembered; each row as the first of its statements found it.
create function remember_change() returns trigger language plpgsql as $$
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

-- An import of gifts moves the totals of many projects in each of its statements: no row is read for more than that.
create function remember_project() returns trigger language plpgsql as $$
declare
  importing bigint := nullif(current_setting('giving.import', true), '')::bigint;
  kept text;
begin
  if importing is null then return null; end if;
  insert into import_change as c (import_id, table_name, key, before, loose)
  select importing, 'totals', jsonb_build_object('id', n.id),
    jsonb_build_object('funding', o.funding, 'donations', o.number_of_donations, 'remaining', o.remaining, 'at', o.totals_changed_at),
    jsonb_build_object('funding', n.funding, 'donations', n.number_of_donations, 'remaining', n.remaining, 'at', n.totals_changed_at)
  from old_rows o join new_rows n using (id)
  where (o.funding, o.number_of_donations, o.remaining, o.totals_changed_at)
    is distinct from (n.funding, n.number_of_donations, n.remaining, n.totals_changed_at)
  on conflict (import_id, table_name, key) do update set loose = excluded.loose;
  kept := array_to_string(import_columns('project', tg_argv[0]), ', %1$s.');
  execute format('
    insert into import_change as c (import_id, table_name, key, before, after)
    select $1, ''project'', jsonb_build_object(''id'', n.id), to_jsonb(o) - $2, md5((to_jsonb(n) - $2)::text)::uuid
    from old_rows o join new_rows n using (id)
    where row (%s) is distinct from row (%s)
    on conflict (import_id, table_name, key) do update set after = excluded.after',
    format('%1$s.' || kept, 'o'), format('%1$s.' || kept, 'n')) using importing, string_to_array(tg_argv[0], ' ');
  return null;
end $$;

do $$
declare
  one record;
begin
  for one in select * from import_tables() loop
    if one.name not in ('organisation_version', 'imported_gift') then
      execute format('create trigger remember_insert after insert on %I referencing new table as new_rows
        for each statement execute function remember_change(%L, %L, %L)', one.name, one.keys, one.unkept, one.loose);
    end if;
    if one.name <> 'organisation_version' then
      execute format('create trigger remember_delete after delete on %I referencing old table as old_rows
        for each statement execute function remember_change(%L, %L, %L)', one.name, one.keys, one.unkept, one.loose);
    end if;
    if one.name <> 'project' then
      execute format('create trigger remember_update after update on %I referencing old table as old_rows new table as new_rows
        for each statement execute function remember_change(%L, %L, %L)', one.name, one.keys, one.unkept, one.loose);
    else
      execute format('create trigger remember_update after update on project referencing old table as old_rows new table as new_rows
        for each statement execute function remember_project(%L)', one.unkept);
    end if;
  end loop;
end $$;

-- The rows of a table that an import has touched, as `c`, with their keys as `k`.
create function import_touched(name text) returns text language sql immutable as $$
  select format('import_change c cross join lateral jsonb_populate_record(null::%I, c.key) k', name)
$$;

-- That row `t` has the key `k`.
create function import_fits(name text, keys text) returns text language sql stable as $$
  select string_agg(format(case when attnotnull then 't.%1$I = (%2$s).%1$I' else 't.%1$I is not distinct from (%2$s).%1$I' end, attname, 'k'), ' and ')
  from pg_attribute where attrelid = name::regclass and attname = any (string_to_array(keys, ' '))
$$;

-- What refers to a table, without what belongs to its rows and what is made again.
create function import_references(parent text) returns table (child text, child_column text, parent_column text) language sql stable as $$
  select child, child_column, parent_column
  from (
    select c.relname::text as child, x.attname::text as child_column, y.attname::text as parent_column, r.confdeltype as action
    from pg_constraint r join pg_class c on c.oid = r.conrelid
      join pg_attribute x on x.attrelid = r.conrelid and x.attnum = r.conkey[1]
      join pg_attribute y on y.attrelid = r.confrelid and y.attnum = r.confkey[1]
    where r.contype = 'f' and r.confrelid = parent::regclass
  ) f
  where (action <> 'c' or child in (select name from import_tables()))
    and (parent, child) not in (values ('organisation', 'organisation_country'), ('organisation', 'organisation_theme'),
      ('organisation', 'organisation_version'), ('theme', 'theme_alias'))
  order by 1, 2
$$;

-- That row `x` of a table belongs to what stays ($2: projects) or goes with its owner, which import $1 created.
create function import_spared(name text) returns text language sql stable as $$
  select case
    when name = 'project' then 'x.id = any ($2)'
    when name = 'report_image' then 'exists (select from progress_report r where r.id = x.report_id and r.project_id = any ($2))'
    else coalesce((
      select format('exists (select from import_change o where o.import_id = $1 and o.table_name = %L and o.before is null
          and o.key = jsonb_build_object(%L, x.%I))', owner, id, reference)
      from (values ('organisation_country', 'organisation', 'id', 'organisation_id'), ('organisation_theme', 'organisation', 'id', 'organisation_id'),
        ('theme_alias', 'theme', 'id', 'theme_id'), ('country', 'country', 'code', 'code')) v (child, owner, id, reference)
      where child = name), 'x.project_id = any ($2)')
  end
$$;

-- Rows that an import did not bring and that refer to rows which it created; what is spared does not count.
create function import_needed(undone bigint, parent text, kept bigint[]) returns table (
  outcome text, what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint
) language plpgsql stable as $$
#variable_conflict use_column
declare
  one record;
begin
  for one in
    select f.*, coalesce(t.keys, 'id') as child_keys, p.keys as parent_key
    from import_references(parent) f left join import_tables() t on t.name = f.child join import_tables() p on p.name = parent
  loop
    return query execute format('
      select %1$L, %2$L, c.key, %3$L, x.key,
        (select max(l.import_id) from import_change l where l.import_id > $1 and l.table_name = %3$L and l.key = x.key), x.rows
      from %4$s cross join lateral (
        select to_jsonb(x) - %5$L::text[] as key, count(*) over () as rows from %3$I x where x.%6$I = k.%7$I and not (%8$s) limit 1) x
      where c.import_id = $1 and c.table_name = %2$L and c.before is null and c.after is not null and %9$s
      order by c.key limit 100', 'needed', parent, one.child, import_touched(parent), import_columns(one.child, one.child_keys),
      one.child_column, one.parent_column, import_spared(one.child),
      case when parent = 'project' then 'k.id <> all ($2)' else 'true' end) using undone, kept;
    if found then return; end if;
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

-- Takes an import back. Rows 'changed' and 'needed' say what stands against it, and then the caller rolls back; 'closed' names
-- projects that stay, since they are published; 'removed', 'returned' and 'restored' count.
create function undo_import(undone bigint) returns table (
  outcome text, what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  one record;
  columns text[];
  kept bigint[];
  done bigint;
begin
  kept := array(
    select i.project_id from import_change c join published_identifier i on i.project_id = (c.key ->> 'id')::bigint
    where c.import_id = undone and c.table_name = 'project' and c.before is null and c.after is not null
      and i.withdrawn_at is null);

  -- Nobody else changes these rows from here on.
  for one in select t.* from import_tables() t where exists (
    select from import_change c where c.import_id = undone and c.table_name = t.name) order by place
  loop
    execute format('select count(*) from (select from %s join %I t on %s where c.import_id = $1 and c.table_name = %L for update of t) locked',
      import_touched(one.name), one.name, import_fits(one.name, one.keys), one.name) using undone into done;
    return query execute format('
      select %L, %L, c.key, null::text, null::jsonb,
        (select max(l.import_id) from import_change l where l.import_id > $1 and l.table_name = c.table_name and l.key = c.key), 1::bigint
      from %s left join %I t on %s
      where c.import_id = $1 and c.table_name = %L and case
        when c.after is null then t.tableoid is not null and c.before is not null
        when t.tableoid is null then c.before is not null or exists (
          select from import_change l where l.import_id > $1 and l.table_name = c.table_name and l.key = c.key)
        else md5((to_jsonb(t) - %L::text[] - %L::text[])::text)::uuid <> c.after end
      order by c.key limit 100', 'changed', one.name, import_touched(one.name), one.name, import_fits(one.name, one.keys),
      one.name, string_to_array(one.unkept, ' '), string_to_array(one.loose, ' ')) using undone;
    if found then return; end if;
  end loop;

  -- Children first; what belongs to a project that stays, stays with it.
  delete from imported_gift where import_id = undone and project_id <> all (kept);
  get diagnostics done = row_count;
  return query select 'removed', 'imported_gift', null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;
  for one in select t.* from import_tables() t where exists (
      select from import_change c where c.import_id = undone and c.table_name = t.name and c.before is null and c.after is not null)
    and t.name not in ('region', 'country', 'theme', 'organisation', 'organisation_version') order by place desc
  loop
    if one.name = 'project' then
      return query select * from import_needed(undone, 'project', kept);
      if found then return; end if;
    end if;
    execute format('delete from %1$I x using %2$s where c.import_id = $1 and c.table_name = %1$L and c.before is null
      and c.after is not null and %3$s and not (%4$s)', one.name, import_touched(one.name),
      replace(import_fits(one.name, one.keys), 't.', 'x.'), import_spared(one.name)) using undone, kept;
    get diagnostics done = row_count;
    return query select 'removed', one.name, null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;
  end loop;

  -- Parents first.
  for one in select t.* from import_tables() t where exists (
    select from import_change c where c.import_id = undone and c.table_name = t.name and c.before is not null) order by place
  loop
    columns := array(
      select format('%I', attname) from pg_attribute where attrelid = one.name::regclass and attnum > 0 and not attisdropped
        and attgenerated = '' and attidentity = '' and attname <> all (string_to_array(one.keys || ' ' || one.unkept, ' ')) order by attnum);
    if columns <> '{}' then
      execute format('
        update %1$I t set (%2$s) = row (%3$s)
        from (
          select k, jsonb_populate_record(t, case when c.loose is null or to_jsonb(t) - %4$L::text[] = c.loose then c.before
            else c.before - %5$L::text[] end) as r
          from %6$s join %1$I t on %7$s
          where c.import_id = $1 and c.table_name = %1$L and c.before is not null and c.after is not null offset 0
        ) c where %8$s', one.name, array_to_string(columns, ', '),
        array_to_string(array(select format('(c.r).%s', name) from unnest(columns) name), ', '),
        import_columns(one.name, one.loose), string_to_array(one.loose, ' '),
        import_touched(one.name), import_fits(one.name, one.keys), replace(import_fits(one.name, one.keys), '(k)', '(c.k)')) using undone;
      get diagnostics done = row_count;
      return query select 'returned', one.name, null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;
    end if;
    columns := array(select format('%I', attname) from pg_attribute where attrelid = one.name::regclass and attnum > 0
      and not attisdropped and attgenerated = '' order by attnum);
    execute format('insert into %1$I (%2$s) overriding system value select %3$s from import_change c
      cross join lateral jsonb_populate_record(null::%1$I, c.before) r
      where c.import_id = $1 and c.table_name = %1$L and c.before is not null and c.after is null', one.name, array_to_string(columns, ', '),
      array_to_string(array(select format('r.%s', name) from unnest(columns) name), ', ')) using undone;
    get diagnostics done = row_count;
    return query select 'restored', one.name, null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;
  end loop;

  -- Totals that others have moved since are moved back by what the import had added.
  update project p set
    funding = w.funding, number_of_donations = w.donations, totals_changed_at = w.at,
    remaining = case when w.same then w.remaining when p.goal is null then p.remaining else greatest(p.goal - w.funding, 0) end
  from (
    select p.id, (c.before ->> 'remaining')::numeric as remaining, s.same,
      case when s.same then (c.before ->> 'at')::timestamptz else p.totals_changed_at end as at,
      p.funding - (c.loose ->> 'funding')::numeric + (c.before ->> 'funding')::numeric as funding,
      greatest(p.number_of_donations - (c.loose ->> 'donations')::integer + (c.before ->> 'donations')::integer, 0) as donations
    from import_change c join project p on p.id = (c.key ->> 'id')::bigint
      cross join lateral (select (p.funding, p.number_of_donations, p.remaining, p.totals_changed_at) is not distinct from
        ((c.loose ->> 'funding')::numeric, (c.loose ->> 'donations')::integer, (c.loose ->> 'remaining')::numeric,
          (c.loose ->> 'at')::timestamptz) as same) s
    where c.import_id = undone and c.table_name = 'totals' and p.id <> all (kept)
  ) w where p.id = w.id;
  get diagnostics done = row_count;
  return query select 'returned', 'totals of project', null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;

  for one in select t.* from import_tables() t where t.name in ('region', 'country', 'theme', 'organisation')
    and exists (select from import_change c where c.import_id = undone and c.table_name = t.name and c.before is null) order by place desc
  loop
    return query select * from import_needed(undone, one.name, kept);
    if found then return; end if;
    execute format('delete from %1$I t using %2$s where c.import_id = $1 and c.table_name = %1$L
      and c.before is null and c.after is not null and %3$s and %4$s', one.name, import_touched(one.name), import_fits(one.name, one.keys),
      (select string_agg(format('not exists (select from %I x where x.%I = t.%I)', child, child_column, parent_column), ' and ')
        from import_references(one.name))) using undone;
    get diagnostics done = row_count;
    return query select 'removed', one.name, null::jsonb, null::text, null::jsonb, null::bigint, done where done > 0;
  end loop;

  update project set active = false, status = 'retired', source_hash = null where id = any (kept);
  return query select 'closed', 'project', jsonb_build_object('id', id), null::text, null::jsonb, null::bigint, 1::bigint
    from unnest(kept) id order by id;
  delete from import_change where import_id = undone;
end $$;
