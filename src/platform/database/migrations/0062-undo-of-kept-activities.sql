-- compatible
-- What an import of IATI files keeps of a project is taken back with it.
create or replace function import_tables() returns table (place integer, name text, keys text, unkept text, loose text) language sql immutable as $$
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

create trigger remember_insert after insert on kept_activity referencing new table as new_rows
  for each statement execute function remember_change('project_id', '', '');
create trigger remember_delete after delete on kept_activity referencing old table as old_rows
  for each statement execute function remember_change('project_id', '', '');
create trigger remember_update after update on kept_activity referencing old table as old_rows new table as new_rows
  for each statement execute function remember_change('project_id', '', '');
