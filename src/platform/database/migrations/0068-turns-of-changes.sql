-- compatible
-- Imports that run beside each other write in another order than that of their numbers: each change has its turn.

create sequence import_change_turn;
alter table import_change add column turn bigint;
update import_change c set turn = o.turn
from (
  select import_id, table_name, key, nextval('import_change_turn') as turn
  from (select import_id, table_name, key from import_change order by import_id) n
) o where (c.import_id, c.table_name, c.key) = (o.import_id, o.table_name, o.key);
alter table import_change alter column turn set default nextval('import_change_turn'), alter column turn set not null;
alter sequence import_change_turn owned by import_change.turn;

do $$
declare
  one text;
begin
  foreach one in array array['import_needed', 'undo_import', 'import_recalled'] loop
    execute regexp_replace(pg_get_functiondef(one::regproc), 'l\.import_id > (\$1|undone)', 'l.turn > c.turn and l.import_id <> \1', 'g');
  end loop;
end $$;
