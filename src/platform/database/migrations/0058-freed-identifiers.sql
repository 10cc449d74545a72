-- compatible
-- A project whose default identifier another one had brought is rendered again when that one gives it up, or goes.
create function mark_freed_identifier() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.iati_identifier is distinct from old.iati_identifier then
    perform mark_projects(array[substring(old.iati_identifier from '-([0-9]{1,15})$')::bigint]);
  end if;
  return null;
end $$;

create trigger mark_freed_identifier after update of iati_identifier or delete on project for each row
  when (old.iati_identifier ~ '-[0-9]{1,15}$') execute function mark_freed_identifier();

-- A role that writes with plain SQL has no rights on the tables of marks.
do $$
begin
  execute format('alter function mark_freed_identifier() security definer set search_path = %I, pg_temp', current_schema());
end $$;
