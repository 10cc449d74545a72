-- compatible
-- A release whose activities are of the same projects, with the same money and partners, need not read all of them for the organisation file.

alter table content_change drop constraint content_change_kind_check;
alter table content_change add constraint content_change_kind_check check (kind in ('activities', 'records', 'organisations'));

create trigger mark_organisations after insert or update or delete or truncate on disbursement
  for each statement execute function mark_content_change('organisations');
create trigger mark_organisations after insert or update or delete or truncate on donation_month
  for each statement execute function mark_content_change('organisations');
create trigger mark_organisations after insert or update or delete or truncate on payout_plan
  for each statement execute function mark_content_change('organisations');

create trigger mark_organisations after update on organisation for each row
  when ((old.name, old.ein, old.org_ref, old.url) is distinct from (new.name, new.ein, new.org_ref, new.url))
  execute function mark_content_change('organisations');
create trigger mark_organisations after update on project for each row
  when (old.organisation_id is distinct from new.organisation_id)
  execute function mark_content_change('organisations');

-- Most statements that insert renderings update those that are there.
create function mark_published_set() returns trigger language plpgsql as $$
begin
  insert into content_change (kind) select 'organisations' where exists (select from changed where text is not null);
  return null;
end $$;
alter function mark_published_set() security definer set search_path from current;

create trigger mark_organisations_of_inserted after insert on rendering referencing new table as changed
  for each statement execute function mark_published_set();
create trigger mark_organisations_of_deleted after delete on rendering referencing old table as changed
  for each statement execute function mark_published_set();
create trigger mark_organisations_of_updated after update on rendering for each row
  when ((old.text is null) <> (new.text is null) or old.identifier <> new.identifier)
  execute function mark_content_change('organisations');
create trigger mark_organisations_of_all after truncate on rendering
  for each statement execute function mark_content_change('organisations');
