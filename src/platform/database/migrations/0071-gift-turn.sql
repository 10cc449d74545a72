-- compatible
-- Moves when a stored gift, or the id by which files name its project or funder, changes; not when gifts are added. A file of gifts that was
-- read whole since need not be read again.
create function move_gift_turn() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_level = 'STATEMENT' and tg_op <> 'TRUNCATE' then
    if not exists (select from old_rows) then return null; end if;
  end if;
  insert into store_fact as f (name, value, recorded_at) values ('gift-turn', '1', now())
  on conflict (name) do update set value = f.value::bigint + 1, recorded_at = excluded.recorded_at;
  return null;
end $$;

create trigger turn_update after update on imported_gift referencing old table as old_rows
  for each statement execute function move_gift_turn();
create trigger turn_delete after delete on imported_gift referencing old table as old_rows
  for each statement execute function move_gift_turn();
create trigger turn_truncate after truncate on imported_gift for each statement execute function move_gift_turn();
create trigger turn_external_id after update of external_id on project for each row
  when (old.external_id is not null and old.external_id is distinct from new.external_id) execute function move_gift_turn();
create trigger turn_external_id after update of external_id on organisation for each row
  when (old.external_id is not null and old.external_id is distinct from new.external_id) execute function move_gift_turn();
