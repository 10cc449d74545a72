-- compatible
-- What the platform's SQL writes is refused where a person would see that it is wrong, in words that say what was expected.
-- The service's own role is not asked: its readers have the same bounds (docs/reference/store.md).

create function refuse_nonsense() returns trigger language plpgsql as $$
declare
  -- Columns by what they hold: days of what has happened, days of what is planned, addresses.
  facts text[] := string_to_array(tg_argv[0], ' ');
  plans text[] := string_to_array(tg_argv[1], ' ');
  addresses text[] := string_to_array(tg_argv[2], ' ');
  today date := (now() at time zone 'UTC')::date;
  -- A later deadline counts as none.
  last_plan date := case when tg_table_name = 'project' then '9999-12-31'::date else today + interval '60 years' end;
  longest integer := case when tg_table_name = 'progress_report' then 4000000 else 100000 end;
  expected text;
  common text;
  field record;
begin
  if (select pg_get_userbyid(relowner) = current_user from pg_class where oid = tg_relid) then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  if tg_op <> 'INSERT' and to_jsonb(old) ->> 'source' <> 'local' then
    raise exception '%: expected a row of source local, got one of source %, which this role cannot change', tg_table_name,
      to_jsonb(old) ->> 'source' using errcode = 'check_violation';
  end if;
  if tg_op <> 'INSERT' and (to_jsonb(old) ->> 'itemised')::numeric <> 0
    and (tg_op = 'DELETE' or to_jsonb(new) - 'amount' - 'count' - 'last_on' <> to_jsonb(old) - 'amount' - 'count' - 'last_on'
      or abs((to_jsonb(new) ->> 'amount')::numeric) < abs((to_jsonb(old) ->> 'itemised')::numeric))
  then
    raise exception '%: expected a row without donations that were made here, got one with % booked', tg_table_name,
      to_jsonb(old) ->> 'itemised' using errcode = 'check_violation';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  for field in
    select e.key as name, e.value #>> '{}' as value, t.typname as type
    from jsonb_each(to_jsonb(new)) e
      join pg_attribute a on a.attrelid = tg_relid and a.attname = e.key
      join pg_type t on t.oid = a.atttypid
    where e.value <> 'null' order by a.attnum
  loop
    expected := case
      when field.type in ('numeric', 'float8') and field.value in ('NaN', 'Infinity', '-Infinity') then 'a number'
      when field.name = 'latitude' and abs(field.value::numeric) > 90 then 'a number from -90 to 90'
      when field.name = 'longitude' and abs(field.value::numeric) > 180 then 'a number from -180 to 180'
      when field.type in ('date', 'timestamptz') and (field.value !~ '^[0-9]{4}-' or field.value ~ 'BC$')
        then 'a day from 1900-01-01 to 9999-12-31'
      when field.type in ('date', 'timestamptz') and left(field.value, 10) < '1900-01-01' then 'a day from 1900-01-01'
      when field.name = any (facts) and left(field.value, 10)::date > today + 1 then 'a day that is not in the future'
      when field.name = 'approved_date' and left(field.value, 10)::date > today + interval '60 years'
        then format('a day until %s', (today + interval '60 years')::date)
      when field.name = any (plans) and left(field.value, 10)::date > last_plan then format('a day until %s', last_plan)
      when field.name = any (addresses) and field.value <> '' and field.value !~* '^https?://[^[:space:]/?#]+[^[:space:]]*$'
        then 'an address that begins with http:// or https://'
      when field.type = 'text' and length(field.value) > longest then format('at most %s characters', longest)
      when field.name = 'source' and field.value <> 'local' then 'local, the source of what this role writes'
      when field.name = 'currency' and not field.value = any (known_currencies()) then 'a currency code of ISO 4217'
    end;
    if expected is not null then
      raise exception '%.%: expected %, got %', tg_table_name, field.name, expected,
        case when length(field.value) > 60 then left(field.value, 60) || '... (' || length(field.value) || ' characters)'
          else field.value end
        using errcode = 'check_violation', table = tg_table_name, column = field.name;
    end if;
  end loop;
  if to_jsonb(new) ? 'currency' then
    common := coalesce((select m.currency from donation_month m limit 1), (select d.currency from disbursement d limit 1),
      (select p.currency from payout_plan p limit 1));
    if common <> to_jsonb(new) ->> 'currency' then
      raise exception '%.currency: expected %, the currency of this store, got %', tg_table_name, common,
        to_jsonb(new) ->> 'currency' using errcode = 'check_violation', table = tg_table_name, column = 'currency';
    end if;
  end if;
  return new;
end $$;

create function known_currencies() returns text[] language sql immutable parallel safe as $$
  select string_to_array(translate('
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYR BYN
    BZD CAD CDF CHF CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV
    MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
    SGD SHP SLE SLL SOS SSP SRD STD STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN USS
    UYI UYU UZS VED VEF VES VND VUV WST XAF XBT XCD XDR XOF XPF YER ZAR ZMK ZMW ZWL
  ', E'\n', ' '), ' ')
$$;

alter function refuse_nonsense() set search_path from current;
alter function known_currencies() set search_path from current;

do $$
declare
  one record;
begin
  for one in
    select * from (values
      ('disbursement', true, 'disbursed_on', '', ''),
      ('donation_month', true, 'month last_on', '', ''),
      ('organisation', true, '', '', 'url logo_url'),
      ('payout_plan', true, '', 'planned_on', ''),
      ('photo', false, 'taken_on', '', 'small_url thumbnail_url medium_url large_url extra_large_url original_url'),
      ('progress_report', true, 'published_at updated_at', '', 'url'),
      ('project', true, 'date_of_most_recent_report modified_date', 'approved_date deadline',
        'additional_documentation contact_url project_link progress_report_link image_link'),
      ('report_image', false, '', '', 'url'),
      ('video', false, '', '', 'url')
    ) written (name, deleted, facts, plans, addresses)
    union all select name, false, '', '', '' from unnest(array['country', 'donation_option', 'organisation_country',
      'organisation_theme', 'project_country', 'project_sdg', 'project_theme', 'region', 'theme', 'theme_alias']) name
  loop
    execute format('create trigger refuse_nonsense before insert or update%s on %I
      for each row execute function refuse_nonsense(%L, %L, %L)', case when one.deleted then ' or delete' end, one.name,
      one.facts, one.plans, one.addresses);
  end loop;
end $$;

-- A number that is none makes every sum that it is in one, whoever writes it.
alter table disbursement add constraint disbursement_amount_is_a_number check (amount <> 'NaN') not valid;
alter table donation_month add constraint donation_month_amount_is_a_number check (amount <> 'NaN') not valid;
alter table donation_option add constraint donation_option_amount_is_a_number check (amount <> 'NaN') not valid;
alter table payout_plan add constraint payout_plan_amount_is_a_number check (amount <> 'NaN') not valid;
alter table project add constraint project_goal_is_a_number check (goal <> 'NaN') not valid;
alter table project add constraint project_funding_is_a_number check (funding <> 'NaN') not valid;
alter table project add constraint project_remaining_is_a_number check (remaining <> 'NaN') not valid;
