-- compatible
-- What a constraint refuses of the platform's SQL is said in words: its comment names a column, and what is expected in it.

create function say_what_is_refused() returns trigger language plpgsql as $$
declare
  failed text;
  words text[];
begin
  if (select pg_get_userbyid(relowner) = current_user from pg_class where oid = tg_relid) then
    return new;
  end if;
  execute (
    select 'select case ' || string_agg(format('when not (%s) then %L', pg_get_expr(c.conbin, c.conrelid), c.conname), ' '
        order by c.conname) || ' end from (select ($1).*) as row'
    from pg_constraint c where c.conrelid = tg_relid and c.contype = 'c'
  ) into failed using new;
  if failed is not null then
    words := (
      select regexp_match(obj_description(c.oid, 'pg_constraint'), '^(\w+): (.*)$')
      from pg_constraint c where c.conrelid = tg_relid and c.conname = failed
    );
    raise exception '%.%: expected %, got "%"', tg_table_name, words[1], words[2],
      left(to_jsonb(new) ->> words[1], 60)
      using errcode = 'check_violation', table = tg_table_name, column = words[1], constraint = failed;
  end if;
  return new;
end $$;

alter function say_what_is_refused() set search_path from current;

comment on constraint country_code_check on country is 'code: two capital letters such as KE';
comment on constraint country_has_name on country is 'name: a name';
comment on constraint disbursement_amount_check on disbursement is 'amount: an amount that is not 0';
comment on constraint disbursement_amount_is_a_number on disbursement is 'amount: a number';
comment on constraint disbursement_currency_check on disbursement is 'currency: a currency code of ISO 4217';
comment on constraint donation_month_amount_is_a_number on donation_month is 'amount: a number';
comment on constraint donation_month_count_check on donation_month is 'count: a whole number from 0';
comment on constraint donation_month_currency_check on donation_month is 'currency: a currency code of ISO 4217';
comment on constraint donation_month_kind_check on donation_month is 'kind: gift, refund, fee or opening';
comment on constraint month_amount_has_sign_of_its_kind on donation_month is
  'amount: an amount from 0, of kind refund one until 0';
comment on constraint month_holds_last_day on donation_month is 'last_on: a day of the month in column month';
comment on constraint month_is_first_of_month on donation_month is 'month: the first day of a month';
comment on constraint donation_option_amount_check on donation_option is 'amount: an amount above 0';
comment on constraint donation_option_amount_is_a_number on donation_option is 'amount: a number';
comment on constraint option_amount_is_whole on donation_option is 'amount: a whole number';
comment on constraint organisation_has_name on organisation is 'name: a name';
comment on constraint organisation_id_check on organisation is 'id: a whole number above 0';
comment on constraint organisation_org_type_check on organisation is
  'org_type: a code of two digits of the IATI OrganisationType list';
comment on constraint organisation_stated_active_projects_check on organisation is
  'stated_active_projects: a whole number from 0';
comment on constraint organisation_stated_total_projects_check on organisation is
  'stated_total_projects: a whole number from 0';
comment on constraint payout_plan_amount_check on payout_plan is 'amount: an amount above 0';
comment on constraint payout_plan_amount_is_a_number on payout_plan is 'amount: a number';
comment on constraint payout_plan_currency_check on payout_plan is 'currency: a currency code of ISO 4217';
comment on constraint payout_plan_reference_check on payout_plan is 'reference: a text that is not empty';
comment on constraint photo_position_check on photo is 'position: a whole number from 0';
comment on constraint progress_report_id_check on progress_report is 'id: a whole number above 0';
comment on constraint report_has_title on progress_report is 'title: a title';
comment on constraint report_has_web_address on progress_report is
  'url: an address that begins with http:// or https://';
comment on constraint report_not_updated_before_published on progress_report is
  'updated_at: an instant that is not before published_at';
comment on constraint project_funding_is_a_number on project is 'funding: a number';
comment on constraint project_glide_number_check on project is 'glide_number: a GLIDE number such as FL-2026-000123-SLE';
comment on constraint project_goal_check on project is 'goal: an amount from 0';
comment on constraint project_goal_is_a_number on project is 'goal: a number';
comment on constraint project_id_check on project is 'id: a whole number above 0';
comment on constraint project_image_gallery_size_check on project is 'image_gallery_size: a whole number from 0';
comment on constraint project_latitude_check on project is 'latitude: degrees from -90 to 90';
comment on constraint project_location_name_check on project is 'location_name: a name, or null';
comment on constraint project_location_precision_check on project is 'location_precision: point or country';
comment on constraint project_longitude_check on project is 'longitude: degrees from -180 to 180';
comment on constraint project_number_of_donations_check on project is 'number_of_donations: a whole number from 0';
comment on constraint project_number_of_reports_check on project is 'number_of_reports: a whole number from 0';
comment on constraint project_operator_state_check on project is 'operator_state: active, inactive or retired';
comment on constraint project_original_goal_check on project is 'original_goal: an amount from 0';
comment on constraint project_remaining_check on project is 'remaining: an amount from 0';
comment on constraint project_remaining_is_a_number on project is 'remaining: a number';
comment on constraint project_status_check on project is 'status: active, funded or retired';
comment on constraint project_title_check on project is 'title: a title';
comment on constraint project_country_share_check on project_country is 'share: a share above 0, at most 100';
comment on constraint project_sdg_code_check on project_sdg is 'code: a goal such as 6 or a target such as 6.1';
comment on constraint theme_has_name on theme is 'name: a name';
comment on constraint theme_id_check on theme is 'id: a text that is not empty';
comment on constraint theme_sector_code_check on theme is 'sector_code: a code of five digits such as 14031';
comment on constraint theme_alias_name_check on theme_alias is 'name: a name';

-- Triggers of a table run in the order of their names: this one after refuse_nonsense, which can say more.
do $$
declare
  writable text;
begin
  foreach writable in array array['country', 'disbursement', 'donation_month', 'donation_option', 'organisation',
    'payout_plan', 'photo', 'progress_report', 'project', 'project_country', 'project_sdg', 'theme', 'theme_alias']
  loop
    execute format('create trigger say_what_is_refused before insert or update on %I
      for each row execute function say_what_is_refused()', writable);
  end loop;
end $$;
