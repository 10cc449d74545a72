-- What the migrations make, read back from PostgreSQL's catalogs. Do not edit: change the migrations, then run
-- npm run schema:dump. A test compares this file with a freshly migrated database.

-- Functions may name what comes after them.
set check_function_bodies = off;

-- Domains

create domain row_source as text constraint row_source_check CHECK (VALUE = ANY (ARRAY['local'::text, 'import'::text, 'upstream'::text, 'demo'::text]));

-- Sequences

create sequence given_number_seq as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 10000001 cache 1;
create sequence import_change_turn as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;
create sequence project_version_seq as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;
create sequence receipt_contribution_seq as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 20001 cache 1;
create sequence receipt_number_seq as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 10001 cache 1;

-- Functions that defaults call

CREATE OR REPLACE FUNCTION public.new_number(of regclass)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  number bigint;
  taken boolean;
begin
  loop
    number := nextval('given_number_seq');
    execute format('select exists (select from %s where id = $1)', of) into taken using number;
    exit when not taken;
  end loop;
  return number;
end $function$;

-- Tables

create table access_token (
  token_hash bytea not null,
  api_key_id bigint not null,
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint access_token_pkey PRIMARY KEY (token_hash),
  constraint access_token_token_hash_check CHECK (length(token_hash) = 32)
);

create table account (
  id bigint generated always as identity not null,
  email text not null,
  password_hash text not null,
  token_timeout_seconds integer default 36000 not null,
  created_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  constraint account_pkey PRIMARY KEY (id),
  constraint account_token_timeout_seconds_check CHECK (token_timeout_seconds > 0)
);

create table account_code (
  id bigint generated always as identity not null,
  purpose text not null,
  code_hash bytea,
  email text,
  password_hash text,
  invitation_id bigint,
  expires_at timestamp with time zone not null,
  mail_at timestamp with time zone,
  tries integer default 0 not null,
  constraint account_code_pkey PRIMARY KEY (id),
  constraint account_code_code_hash_key UNIQUE (code_hash),
  constraint account_code_check CHECK (email IS NOT NULL OR purpose = 'invitation'::text),
  constraint account_code_check1 CHECK ((password_hash IS NOT NULL) = (purpose = 'verification'::text)),
  constraint account_code_code_hash_check CHECK (length(code_hash) = 32),
  constraint account_code_purpose_check CHECK (purpose = ANY (ARRAY['invitation'::text, 'verification'::text, 'reset'::text])),
  constraint account_code_tries_check CHECK (tries >= 0)
);

create table account_grant (
  account_id bigint not null,
  operation text not null,
  granted_at timestamp with time zone not null,
  constraint account_grant_pkey PRIMARY KEY (account_id, operation),
  constraint account_grant_operation_check CHECK (operation = ANY (ARRAY['donations'::text, 'donation-notes'::text, 'partner-codes'::text]))
);

create table activity_rows (
  project_id bigint not null,
  content_hash text not null,
  version integer not null,
  counts integer[] not null,
  hashes bytea not null,
  csv bytea not null,
  parquet bytea not null,
  entry bytea,
  flows jsonb,
  ends integer[],
  constraint activity_rows_pkey PRIMARY KEY (project_id)
);
alter table activity_rows alter column csv set storage external;
alter table activity_rows alter column entry set storage external;
alter table activity_rows alter column parquet set storage external;

create table api_key (
  id bigint generated always as identity not null,
  account_id bigint not null,
  key_hash bytea not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  scope text default 'read donate'::text not null,
  origins text,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_key_hash_key UNIQUE (key_hash),
  constraint api_key_check CHECK (origins IS NULL OR origins <> ''::text AND scope = 'read'::text),
  constraint api_key_key_hash_check CHECK (length(key_hash) = 32),
  constraint api_key_scope_check CHECK (scope = ANY (ARRAY['read'::text, 'donate'::text, 'read donate'::text]))
);

create table asked_mail (
  id bigint generated always as identity not null,
  subject bytea not null,
  asked_at timestamp with time zone not null,
  wanted boolean default false not null,
  constraint asked_mail_pkey PRIMARY KEY (id)
);

create table attempt_count (
  subject bytea not null,
  attempts integer not null,
  last_at timestamp with time zone not null,
  constraint attempt_count_pkey PRIMARY KEY (subject),
  constraint attempt_count_subject_check CHECK (length(subject) = 32)
);

create table audit_event (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  action text not null,
  refused boolean not null,
  actor text not null,
  origin text not null,
  subject text,
  details jsonb not null,
  constraint audit_event_pkey PRIMARY KEY (id)
);

create table charge_state (
  donation_id bigint not null,
  progress text not null,
  dispute text,
  difference text,
  accepted text,
  read_at timestamp with time zone not null,
  constraint charge_state_pkey PRIMARY KEY (donation_id),
  constraint charge_state_dispute_check CHECK (dispute = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text])),
  constraint charge_state_progress_check CHECK (progress = ANY (ARRAY['pending'::text, 'settled'::text, 'failed'::text, 'voided'::text]))
);

create table content_change (
  kind text not null,
  constraint content_change_kind_check CHECK (kind = ANY (ARRAY['activities'::text, 'records'::text, 'organisations'::text]))
);

create table country (
  code text not null,
  name text not null,
  region_name text,
  constraint country_pkey PRIMARY KEY (code),
  constraint country_code_check CHECK (code ~ '^[A-Z]{2}$'::text)
);

create table disbursement (
  id bigint generated always as identity not null,
  project_id bigint not null,
  reference text not null,
  disbursed_on date not null,
  amount numeric(18,3) not null,
  currency text not null,
  receiver_id bigint,
  source row_source default 'local'::text not null,
  original_amount numeric(18,3),
  original_currency text,
  constraint disbursement_pkey PRIMARY KEY (id),
  constraint disbursement_reference_key UNIQUE (reference),
  constraint disbursement_amount_check CHECK (amount <> 0::numeric),
  constraint disbursement_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text)
);

create table donation (
  id bigint generated always as identity not null,
  project_id bigint not null,
  funder_id bigint,
  amount numeric(18,3) not null,
  currency text not null,
  settled_at timestamp with time zone,
  source row_source not null,
  status text default 'settled'::text not null,
  reference text,
  gateway text,
  charge_id text,
  api_key_id bigint,
  idempotency_key text,
  transaction_id text,
  refcode text,
  partner_code text,
  addon numeric(18,3) default 0 not null,
  fee numeric(18,3) default 0 not null,
  newsletter_platform boolean default false not null,
  newsletter_charity boolean default false not null,
  received_at timestamp with time zone,
  lease_until timestamp with time zone,
  receipt_number text,
  decline_code integer,
  decline_text text,
  refunded numeric(18,3) default 0 not null,
  waits_for text,
  liability_shifted boolean,
  settled_amount numeric(18,3),
  settled_addon numeric(18,3),
  settled_currency text,
  constraint donation_pkey PRIMARY KEY (id),
  constraint donation_receipt_number_key UNIQUE (receipt_number),
  constraint donation_reference_key UNIQUE (reference),
  constraint donation_addon_check CHECK (addon >= 0::numeric),
  constraint donation_amount_check CHECK (amount > 0::numeric),
  constraint donation_check CHECK (refunded >= 0::numeric AND refunded <= amount),
  constraint donation_check1 CHECK ((status <> ALL (ARRAY['settled'::text, 'refunded'::text])) OR settled_at IS NOT NULL),
  constraint donation_check2 CHECK (status <> 'received'::text OR reference IS NOT NULL AND lease_until IS NOT NULL),
  constraint donation_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint donation_fee_check CHECK (fee >= 0::numeric),
  constraint donation_status_check CHECK (status = ANY (ARRAY['received'::text, 'settled'::text, 'declined'::text, 'failed'::text, 'refunded'::text]))
);

create table donation_event (
  id bigint generated always as identity not null,
  donation_id bigint not null,
  kind text not null,
  at timestamp with time zone not null,
  details jsonb default '{}'::jsonb not null,
  constraint donation_event_pkey PRIMARY KEY (id),
  constraint donation_event_kind_check CHECK (kind = ANY (ARRAY['received'::text, 'settled'::text, 'declined'::text, 'failed'::text, 'refunded'::text, 'confirmed'::text, 'disputed'::text]))
);

create table donation_month (
  project_id bigint not null,
  month date not null,
  currency text not null,
  kind text not null,
  source row_source default 'local'::text not null,
  funder_id bigint,
  amount numeric(18,3) not null,
  count integer not null,
  last_on date not null,
  itemised numeric(18,3) default 0 not null,
  constraint donation_month_project_id_month_currency_kind_source_funder_key UNIQUE NULLS NOT DISTINCT (project_id, month, currency, kind, source, funder_id),
  constraint donation_month_count_check CHECK (count >= 0),
  constraint donation_month_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint donation_month_kind_check CHECK (kind = ANY (ARRAY['gift'::text, 'refund'::text, 'fee'::text, 'opening'::text])),
  constraint month_holds_last_day CHECK (last_on >= month AND last_on < (month + '1 mon'::interval)),
  constraint month_is_first_of_month CHECK (EXTRACT(day FROM month) = 1::numeric)
);

create table donation_option (
  project_id bigint not null,
  position integer not null,
  amount numeric(18,3) not null,
  description text,
  constraint donation_option_pkey PRIMARY KEY (project_id, "position"),
  constraint donation_option_amount_check CHECK (amount > 0::numeric)
);

create table donation_plan (
  id bigint generated always as identity not null,
  donation_id bigint not null,
  state text default 'starting'::text not null,
  customer text,
  method text,
  instant integer default 1 not null,
  tries integer default 0 not null,
  next_at timestamp with time zone,
  look_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  reason text,
  tell_at timestamp with time zone,
  constraint donation_plan_pkey PRIMARY KEY (id),
  constraint donation_plan_donation_id_key UNIQUE (donation_id),
  constraint donation_plan_check CHECK (state <> 'active'::text OR next_at IS NOT NULL AND method IS NOT NULL),
  constraint donation_plan_instant_check CHECK (instant > 0),
  constraint donation_plan_state_check CHECK (state = ANY (ARRAY['starting'::text, 'active'::text, 'asleep'::text, 'ended'::text])),
  constraint donation_plan_tries_check CHECK (tries >= 0)
);

create table donation_plan_charge (
  plan_id bigint not null,
  instant integer not null,
  try integer not null,
  reference text not null,
  constraint donation_plan_charge_pkey PRIMARY KEY (plan_id, instant, try),
  constraint donation_plan_charge_reference_key UNIQUE (reference)
);

create table donation_refund (
  id bigint generated always as identity not null,
  donation_id bigint not null,
  reference text not null,
  kind text not null,
  amount numeric(18,3) not null,
  addon numeric(18,3) default 0 not null,
  requested_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  done_at timestamp with time zone,
  settled_amount numeric(18,3),
  constraint donation_refund_pkey PRIMARY KEY (id),
  constraint donation_refund_reference_key UNIQUE (reference),
  constraint donation_refund_addon_check CHECK (addon >= 0::numeric),
  constraint donation_refund_amount_check CHECK (amount >= 0::numeric AND (amount + addon) > 0::numeric),
  constraint donation_refund_kind_check CHECK (kind = ANY (ARRAY['refund'::text, 'chargeback'::text, 'failure'::text]))
);

create table donor (
  donation_id bigint not null,
  email text,
  details jsonb,
  payload_salt bytea not null,
  payload_hash bytea not null,
  key_id text,
  wrapped_key bytea,
  sealed bytea,
  email_hash bytea,
  constraint donor_pkey PRIMARY KEY (donation_id),
  constraint donor_sealed_or_clear CHECK (num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 4 AND num_nonnulls(email, details) = 0 OR num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 0 AND num_nonnulls(email, details) = 2)
);

create table donor_mail (
  id bigint generated always as identity not null,
  donation_id bigint not null,
  kind text not null,
  subject text default ''::text not null,
  state text default 'due'::text not null,
  tries integer default 0 not null,
  next_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  reply integer,
  constraint donor_mail_pkey PRIMARY KEY (id),
  constraint donor_mail_donation_id_kind_subject_key UNIQUE (donation_id, kind, subject),
  constraint donor_mail_kind_check CHECK (kind = ANY (ARRAY['refund'::text, 'charge-failed'::text, 'statement'::text])),
  constraint donor_mail_state_check CHECK (state = ANY (ARRAY['due'::text, 'sending'::text, 'sent'::text, 'refused'::text, 'failed'::text, 'unknown'::text, 'dropped'::text])),
  constraint donor_mail_tries_check CHECK (tries >= 0)
);

create table featured_hour (
  hour timestamp with time zone not null,
  project_ids bigint[] not null,
  constraint featured_hour_pkey PRIMARY KEY (hour)
);

create table followed_project (
  project_id bigint not null,
  release_id text not null,
  reports text[] not null,
  constraint followed_project_pkey PRIMARY KEY (project_id)
);

create table import (
  id bigint generated always as identity not null,
  actor text not null,
  origin text not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  state text default 'running'::text not null,
  undone_at timestamp with time zone,
  undone_by text,
  files jsonb default '[]'::jsonb not null,
  records bigint default 0 not null,
  created bigint default 0 not null,
  changed bigint default 0 not null,
  unchanged bigint default 0 not null,
  refused bigint default 0 not null,
  kept bigint default 0 not null,
  problem_count bigint default 0 not null,
  problems jsonb default '[]'::jsonb not null,
  moved jsonb,
  receipt jsonb,
  constraint import_pkey PRIMARY KEY (id),
  constraint import_check CHECK (undone_at IS NULL OR state = 'undone'::text),
  constraint import_state_check CHECK (state = ANY (ARRAY['running'::text, 'done'::text, 'undone'::text]))
);

create table import_change (
  import_id bigint not null,
  table_name text not null,
  key jsonb not null,
  before jsonb,
  after uuid,
  loose jsonb,
  turn bigint default nextval('import_change_turn'::regclass) not null,
  constraint import_change_pkey PRIMARY KEY (import_id, table_name, key)
);

create table import_line (
  import_id bigint not null,
  kind text not null,
  key text not null,
  file text not null,
  line integer not null,
  constraint import_line_pkey PRIMARY KEY (kind, key, import_id)
);

create table import_recipe (
  name text not null,
  recipe json not null,
  saved_by text not null,
  saved_at timestamp with time zone not null,
  constraint import_recipe_pkey PRIMARY KEY (name),
  constraint import_recipe_name_check CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)
);

create table import_source (
  name text not null,
  kind text not null,
  location text not null,
  schedule text not null,
  reading jsonb default '{}'::jsonb not null,
  complete boolean default false not null,
  guard_percent integer default 5 not null,
  secret_file text,
  host_key text,
  next_due timestamp with time zone not null,
  lease_owner text,
  lease_until timestamp with time zone,
  tried_at timestamp with time zone,
  outcome text,
  message text,
  import_id bigint,
  held jsonb,
  constraint import_source_pkey PRIMARY KEY (name),
  constraint import_source_guard_percent_check CHECK (guard_percent >= 0 AND guard_percent <= 100),
  constraint import_source_name_check CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
  constraint import_source_outcome_check CHECK (outcome = ANY (ARRAY['imported'::text, 'unchanged'::text, 'held'::text, 'failed'::text]))
);

create table import_source_file (
  source text not null,
  name text not null,
  version text,
  sha256 text not null,
  refused bigint not null,
  read_at timestamp with time zone not null,
  ending text,
  constraint import_source_file_pkey PRIMARY KEY (source, name)
);

create table import_source_reading (
  source text not null,
  digest uuid not null,
  key text not null,
  content uuid not null,
  formerly uuid,
  constraint import_source_reading_pkey PRIMARY KEY (source, digest)
);

create table import_source_record (
  source text not null,
  digest uuid not null,
  key text not null,
  content uuid not null,
  file text,
  constraint import_source_record_pkey PRIMARY KEY (source, digest)
);

create table imported_gift (
  reference_hash bytea not null,
  content_hash bytea not null,
  project_id bigint not null,
  import_id bigint default NULLIF(current_setting('giving.import'::text, true), ''::text)::bigint,
  given_on date,
  kind text,
  amount numeric(18,3),
  count integer,
  funder_id bigint,
  constraint imported_gift_pkey PRIMARY KEY (reference_hash),
  constraint imported_gift_content_hash_check CHECK (length(content_hash) = 32),
  constraint imported_gift_kind_check CHECK (kind = ANY (ARRAY['gift'::text, 'refund'::text, 'fee'::text])),
  constraint imported_gift_reference_hash_check CHECK (length(reference_hash) = 32)
);

create table imported_month (
  project_id bigint not null,
  month date not null,
  kind text not null,
  funder_id bigint,
  origin text not null,
  import_id text,
  constraint imported_month_key UNIQUE NULLS NOT DISTINCT (project_id, month, kind, funder_id),
  constraint imported_month_origin_check CHECK (origin = ANY (ARRAY['references'::text, 'sum'::text]))
);

create table kept_activity (
  project_id bigint not null,
  text text not null,
  moved_on date not null,
  file text,
  line integer,
  own_number boolean default true not null,
  formerly text,
  constraint kept_activity_pkey PRIMARY KEY (project_id)
);

create table kept_organisation (
  identifier text not null,
  text text not null,
  moved_on date not null,
  file text,
  line integer,
  constraint kept_organisation_pkey PRIMARY KEY (identifier)
);

create table organisation (
  id bigint default new_number('organisation'::regclass) not null,
  bridge_id bigint,
  name text not null,
  ein text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  postal text,
  country_code text,
  country_name text,
  url text,
  logo_url text,
  mission text,
  stated_total_projects integer,
  stated_active_projects integer,
  org_ref text,
  org_type text,
  source row_source default 'local'::text not null,
  unknown_fields jsonb,
  vetted boolean default true not null,
  external_id text,
  language text,
  texts jsonb,
  constraint organisation_pkey PRIMARY KEY (id),
  constraint organisation_id_check CHECK (id > 0),
  constraint organisation_language_check CHECK (language ~ '^[a-z]{2}$'::text),
  constraint organisation_org_type_check CHECK (org_type ~ '^[0-9]{2}$'::text),
  constraint organisation_stated_active_projects_check CHECK (stated_active_projects >= 0),
  constraint organisation_stated_total_projects_check CHECK (stated_total_projects >= 0),
  constraint organisation_texts_check CHECK (jsonb_typeof(texts) = 'object'::text AND NOT jsonb_path_exists(texts, '$.*?(@.type() != "string")'::jsonpath))
);

create table organisation_country (
  organisation_id bigint not null,
  position integer not null,
  country_code text not null,
  constraint organisation_country_pkey PRIMARY KEY (organisation_id, "position")
);

create table organisation_record (
  organisation_id bigint not null,
  version bigint not null,
  mapping integer not null,
  xml text not null,
  json text not null,
  constraint organisation_record_pkey PRIMARY KEY (organisation_id)
);
alter table organisation_record alter column "json" set storage external;
alter table organisation_record alter column xml set storage external;

create table organisation_theme (
  organisation_id bigint not null,
  position integer not null,
  theme_id text not null,
  constraint organisation_theme_pkey PRIMARY KEY (organisation_id, "position")
);

create table organisation_version (
  organisation_id bigint not null,
  version bigint not null,
  changed_at timestamp with time zone not null,
  stated_at timestamp with time zone,
  constraint organisation_version_pkey PRIMARY KEY (organisation_id)
);

create table payout_plan (
  reference text not null,
  project_id bigint not null,
  planned_on date not null,
  amount numeric(18,3) not null,
  currency text not null,
  source row_source default 'local'::text not null,
  constraint payout_plan_pkey PRIMARY KEY (reference),
  constraint payout_plan_amount_check CHECK (amount > 0::numeric),
  constraint payout_plan_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint payout_plan_reference_check CHECK (reference <> ''::text)
);

create table photo (
  project_id bigint not null,
  position integer not null,
  wire_id bigint not null,
  title text,
  small_url text,
  thumbnail_url text,
  medium_url text,
  large_url text,
  extra_large_url text,
  original_url text,
  consent boolean default false not null,
  taken_on date,
  constraint photo_pkey PRIMARY KEY (project_id, "position"),
  constraint photo_position_check CHECK ("position" >= 0)
);

create table processor_entry (
  gateway text not null,
  id text not null,
  kind text not null,
  charge_id text not null,
  reference text,
  amount numeric(18,3) not null,
  currency text not null,
  settled_at timestamp with time zone not null,
  read_at timestamp with time zone not null,
  constraint processor_entry_pkey PRIMARY KEY (gateway, id),
  constraint processor_entry_kind_check CHECK (kind = ANY (ARRAY['charge'::text, 'refund'::text]))
);

create table progress_report (
  id bigint default new_number('progress_report'::regclass) not null,
  project_id bigint not null,
  title text not null,
  author_name text,
  published_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  content_html text not null,
  url text not null,
  source row_source default 'local'::text not null,
  digest text generated always as (md5((((((((((title || chr(1)) || COALESCE(author_name, ''::text)) || chr(1)) || url) || chr(1)) || content_html) || chr(1)) || EXTRACT(epoch FROM published_at - '1970-01-01 00:00:00+00'::timestamp with time zone)::text) || chr(1)) || EXTRACT(epoch FROM updated_at - '1970-01-01 00:00:00+00'::timestamp with time zone)::text)) stored not null,
  external_id text,
  language text,
  texts jsonb,
  constraint progress_report_pkey PRIMARY KEY (id),
  constraint progress_report_id_check CHECK (id > 0),
  constraint progress_report_language_check CHECK (language ~ '^[a-z]{2}$'::text),
  constraint progress_report_texts_check CHECK (jsonb_typeof(texts) = 'object'::text AND NOT jsonb_path_exists(texts, '$.*?(@.type() != "string")'::jsonpath))
);

create table project (
  id bigint default new_number('project'::regclass) not null,
  organisation_id bigint,
  active boolean not null,
  status text not null,
  paused boolean default false not null,
  type text default 'project'::text not null,
  title text not null,
  summary text,
  need text,
  long_term_impact text,
  activities text,
  notice text,
  additional_documentation text,
  contact_name text,
  contact_title text,
  contact_address text,
  contact_address2 text,
  contact_city text,
  contact_state text,
  contact_postal text,
  contact_country text,
  contact_url text,
  project_link text,
  progress_report_link text,
  theme_name text,
  country_name text,
  country_code text,
  region_name text,
  goal numeric(18,3),
  funding numeric(18,3) default 0 not null,
  remaining numeric(18,3),
  number_of_donations integer default 0 not null,
  number_of_reports integer,
  date_of_most_recent_report timestamp with time zone,
  image_link text,
  image_title text,
  image_gallery_size integer,
  latitude numeric,
  longitude numeric,
  approved_date timestamp with time zone,
  modified_date timestamp with time zone,
  deadline date,
  location_precision text default 'point'::text not null,
  source row_source default 'local'::text not null,
  first_seen_on date default (now() AT TIME ZONE 'UTC'::text)::date not null,
  source_hash text,
  unknown_fields jsonb,
  original_goal numeric(18,3),
  glide_number text,
  location_name text,
  operator_state text,
  totals_changed_at timestamp with time zone,
  iati_identifier text,
  external_id text,
  language text,
  texts jsonb,
  constraint project_pkey PRIMARY KEY (id),
  constraint project_glide_number_check CHECK (glide_number ~ '^[A-Z]{2}-[0-9]{4}-[0-9]{6}-[A-Z]{3}$'::text),
  constraint project_goal_check CHECK (goal >= 0::numeric),
  constraint project_id_check CHECK (id > 0),
  constraint project_image_gallery_size_check CHECK (image_gallery_size >= 0),
  constraint project_language_check CHECK (language ~ '^[a-z]{2}$'::text),
  constraint project_latitude_check CHECK (latitude >= '-90'::integer::numeric AND latitude <= 90::numeric),
  constraint project_location_name_check CHECK (location_name <> ''::text),
  constraint project_location_precision_check CHECK (location_precision = ANY (ARRAY['point'::text, 'country'::text])),
  constraint project_longitude_check CHECK (longitude >= '-180'::integer::numeric AND longitude <= 180::numeric),
  constraint project_number_of_donations_check CHECK (number_of_donations >= 0),
  constraint project_number_of_reports_check CHECK (number_of_reports >= 0),
  constraint project_operator_state_check CHECK (operator_state = ANY (ARRAY['active'::text, 'inactive'::text, 'retired'::text])),
  constraint project_original_goal_check CHECK (original_goal >= 0::numeric),
  constraint project_remaining_check CHECK (remaining >= 0::numeric),
  constraint project_status_check CHECK (status = ANY (ARRAY['active'::text, 'funded'::text, 'retired'::text])),
  constraint project_texts_check CHECK (jsonb_typeof(texts) = 'object'::text AND NOT jsonb_path_exists(texts, '$.*?(@.type() != "string")'::jsonpath)),
  constraint project_title_check CHECK (title <> ''::text)
);

create table project_country (
  project_id bigint not null,
  position integer not null,
  country_code text not null,
  share numeric(7,4),
  constraint project_country_pkey PRIMARY KEY (project_id, "position"),
  constraint project_country_project_id_country_code_key UNIQUE (project_id, country_code),
  constraint project_country_share_check CHECK (share > 0::numeric AND share <= 100::numeric)
);

create table project_sdg (
  project_id bigint not null,
  code text not null,
  constraint project_sdg_pkey PRIMARY KEY (project_id, code),
  constraint project_sdg_code_check CHECK (code ~ '^[0-9]{1,2}([.][0-9]{1,2}|[.][a-d])?$'::text)
);

create table project_search (
  project_id bigint not null,
  document tsvector not null,
  folded boolean default false not null,
  constraint project_search_pkey PRIMARY KEY (project_id)
);

create table project_theme (
  project_id bigint not null,
  position integer not null,
  theme_id text not null,
  constraint project_theme_pkey PRIMARY KEY (project_id, "position"),
  constraint project_theme_project_id_theme_id_key UNIQUE (project_id, theme_id)
);

create table project_version (
  project_id bigint not null,
  version bigint not null,
  changed_at timestamp with time zone not null,
  dirty boolean not null,
  constraint project_version_pkey PRIMARY KEY (project_id)
);

create table pruned_run (
  state text not null,
  count bigint not null,
  rendered bigint default 0 not null,
  watchdog bigint default 0 not null,
  constraint pruned_run_pkey PRIMARY KEY (state)
);

create table published_identifier (
  identifier text not null,
  project_id bigint not null,
  segment integer not null,
  first_release_id text not null,
  first_published_at timestamp with time zone not null,
  withdrawn_at timestamp with time zone,
  constraint published_identifier_pkey PRIMARY KEY (identifier),
  constraint published_identifier_project_id_key UNIQUE (project_id),
  constraint published_identifier_segment_check CHECK (segment > 0)
);

create table publisher (
  id integer generated always as identity not null,
  ref text not null,
  type text not null,
  currency text not null,
  language text not null,
  recorded_at timestamp with time zone not null,
  constraint publisher_pkey PRIMARY KEY (id)
);

create table receipt_mail (
  donation_id bigint not null,
  state text default 'due'::text not null,
  tries integer default 0 not null,
  next_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  reply integer,
  constraint receipt_mail_pkey PRIMARY KEY (donation_id),
  constraint receipt_mail_state_check CHECK (state = ANY (ARRAY['due'::text, 'sending'::text, 'sent'::text, 'refused'::text, 'failed'::text, 'unknown'::text, 'dropped'::text])),
  constraint receipt_mail_tries_check CHECK (tries >= 0)
);

create table reconciliation (
  gateway text not null,
  day date not null,
  currency text not null,
  processor_amount numeric(18,3) not null,
  books_amount numeric(18,3) not null,
  checked_at timestamp with time zone not null,
  constraint reconciliation_pkey PRIMARY KEY (gateway, day, currency)
);

create table reconciliation_difference (
  gateway text not null,
  day date not null,
  currency text not null,
  kind text not null,
  entry text not null,
  reference text,
  processor_id text,
  charge_id text,
  processor_amount text,
  books_amount text,
  difference numeric(18,3) not null,
  donation_id bigint,
  accepted_at timestamp with time zone,
  constraint reconciliation_difference_entry_check CHECK (entry = ANY (ARRAY['charge'::text, 'refund'::text])),
  constraint reconciliation_difference_kind_check CHECK (kind = ANY (ARRAY['missing'::text, 'doubled'::text, 'changed'::text, 'unknown'::text]))
);

create table region (
  name text not null,
  constraint region_pkey PRIMARY KEY (name)
);

create table release (
  id text not null,
  run_id bigint not null,
  generated_at timestamp with time zone not null,
  state text not null,
  manifest jsonb not null,
  reason text,
  constraint release_pkey PRIMARY KEY (id),
  constraint release_state_check CHECK (state = ANY (ARRAY['live'::text, 'superseded'::text, 'held'::text]))
);

create table release_event (
  id bigint generated always as identity not null,
  release_id text not null,
  event text not null,
  other_id text,
  at timestamp with time zone not null,
  constraint release_event_pkey PRIMARY KEY (id),
  constraint release_event_event_check CHECK (event = ANY (ARRAY['published'::text, 'held'::text, 'approved'::text, 'rolled-back'::text]))
);

create table rendering (
  project_id bigint not null,
  identifier text not null,
  verdict text not null,
  text text,
  content_hash text,
  bytes integer default 0 not null,
  last_updated_at timestamp with time zone,
  errors integer not null,
  warnings integer not null,
  infos integer not null,
  notice_counts jsonb not null,
  notices jsonb not null,
  input_key text not null,
  valid_until date,
  money jsonb default '{}'::jsonb not null,
  segment integer,
  run_id bigint,
  held_since timestamp with time zone,
  constraint rendering_pkey PRIMARY KEY (project_id),
  constraint rendering_segment_check CHECK (segment > 0),
  constraint rendering_verdict_check CHECK (verdict = ANY (ARRAY['valid'::text, 'held'::text]))
);
alter table rendering alter column text set storage external;

create table report_feed (
  project_id bigint not null,
  text text not null,
  content_hash text not null,
  entries integer not null,
  bytes integer not null,
  updated_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint report_feed_pkey PRIMARY KEY (project_id)
);
alter table report_feed alter column text set storage external;

create table report_image (
  report_id bigint not null,
  position integer not null,
  url text not null,
  media_type text,
  constraint report_image_pkey PRIMARY KEY (report_id, "position")
);

create table report_place (
  report_id bigint not null,
  place bigint not null,
  constraint report_place_pkey PRIMARY KEY (report_id),
  constraint report_place_place_key UNIQUE (place),
  constraint report_place_place_check CHECK (place > 0)
);

create table run (
  id bigint generated always as identity not null,
  trigger text not null,
  schedule text,
  due_at timestamp with time zone,
  force boolean default false not null,
  state text default 'queued'::text not null,
  attempt integer default 0 not null,
  stage text,
  lease_owner text,
  lease_until timestamp with time zone,
  queued_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  rendered integer default 0 not null,
  changed integer default 0 not null,
  held integer default 0 not null,
  progress jsonb,
  release_id text,
  outcome jsonb,
  error_code text,
  error_message text,
  timings jsonb,
  losses integer default 0 not null,
  progress_at_loss bigint default 0 not null,
  cancel_asked boolean default false not null,
  constraint run_pkey PRIMARY KEY (id),
  constraint run_schedule_due_at_key UNIQUE (schedule, due_at),
  constraint run_check CHECK ((schedule IS NULL) = (due_at IS NULL)),
  constraint run_stage_check CHECK (stage = ANY (ARRAY['render'::text, 'publish'::text])),
  constraint run_state_check CHECK (state = ANY (ARRAY['queued'::text, 'running'::text, 'published'::text, 'unchanged'::text, 'held'::text, 'failed'::text])),
  constraint run_trigger_check CHECK (trigger = ANY (ARRAY['schedule'::text, 'start'::text, 'manual'::text, 'watchdog'::text]))
);

create table run_line (
  id bigint generated always as identity not null,
  run_id bigint not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null,
  details jsonb default '{}'::jsonb not null,
  constraint run_line_pkey PRIMARY KEY (id),
  constraint run_line_level_check CHECK (level = ANY (ARRAY['info'::text, 'warn'::text, 'error'::text]))
);

create table run_shard (
  run_id bigint not null,
  attempt integer not null,
  from_id bigint not null,
  to_id bigint not null,
  percent integer default 0 not null,
  rendered integer default 0 not null,
  changed integer default 0 not null,
  held integer default 0 not null,
  lease_owner text,
  lease_until timestamp with time zone,
  constraint run_shard_pkey PRIMARY KEY (run_id, attempt, from_id)
);

create table sandbox_charge (
  id bigint generated always as identity not null,
  reference text not null,
  amount numeric(18,3) not null,
  currency text not null,
  decline_code integer,
  charged_at timestamp with time zone not null,
  secret text,
  answered_at timestamp with time zone,
  settles_at timestamp with time zone,
  settled_amount numeric(18,3),
  settled_currency text,
  card_code integer,
  dispute text,
  constraint sandbox_charge_pkey PRIMARY KEY (id),
  constraint sandbox_charge_reference_key UNIQUE (reference),
  constraint sandbox_charge_secret_key UNIQUE (secret),
  constraint sandbox_charge_amount_check CHECK (amount > 0::numeric),
  constraint sandbox_charge_dispute_check CHECK (dispute = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text]))
);

create table sandbox_refund (
  id bigint generated always as identity not null,
  reference text not null,
  charge_id bigint not null,
  amount numeric(18,3) not null,
  refunded_at timestamp with time zone not null,
  constraint sandbox_refund_pkey PRIMARY KEY (id),
  constraint sandbox_refund_reference_key UNIQUE (reference),
  constraint sandbox_refund_amount_check CHECK (amount > 0::numeric)
);

create table schedule (
  name text not null,
  expression text not null,
  timezone text not null,
  adopted_at timestamp with time zone not null,
  paused_at timestamp with time zone,
  constraint schedule_pkey PRIMARY KEY (name)
);

create table schema_migration (
  version integer not null,
  name text not null,
  hash text not null,
  applied_at timestamp with time zone default now() not null,
  breaking boolean default true not null,
  constraint schema_migration_pkey PRIMARY KEY (version)
);

create table search_change (
  xid xid8 default pg_current_xact_id() not null,
  marked_at timestamp with time zone default clock_timestamp() not null,
  project_id bigint
);

create table segment_change (
  segment integer not null
);

create table segment_summary (
  segment integer not null,
  version text not null,
  summary jsonb not null,
  constraint segment_summary_pkey PRIMARY KEY (segment)
);

create table sign_in_place (
  account_id bigint not null,
  place bytea not null,
  last_at timestamp with time zone not null,
  constraint sign_in_place_pkey PRIMARY KEY (account_id, place),
  constraint sign_in_place_place_check CHECK (length(place) = 32)
);

create table store_fact (
  name text not null,
  value text not null,
  recorded_at timestamp with time zone not null,
  constraint store_fact_pkey PRIMARY KEY (name)
);

create table subscription (
  id bigint generated always as identity not null,
  project_id bigint not null,
  token_hash bytea not null,
  language text not null,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  email_hash bytea not null,
  requested_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  constraint subscription_pkey PRIMARY KEY (id),
  constraint subscription_project_id_email_hash_key UNIQUE (project_id, email_hash),
  constraint subscription_token_hash_key UNIQUE (token_hash),
  constraint subscription_token_hash_check CHECK (length(token_hash) = 32)
);

create table subscription_mail (
  id bigint generated always as identity not null,
  subscription_id bigint not null,
  report text default ''::text not null,
  state text default 'due'::text not null,
  tries integer default 0 not null,
  next_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  reply integer,
  constraint subscription_mail_pkey PRIMARY KEY (id),
  constraint subscription_mail_subscription_id_report_key UNIQUE (subscription_id, report),
  constraint subscription_mail_state_check CHECK (state = ANY (ARRAY['due'::text, 'sending'::text, 'sent'::text, 'refused'::text, 'failed'::text, 'unknown'::text, 'dropped'::text])),
  constraint subscription_mail_tries_check CHECK (tries >= 0)
);

create table sync_notice (
  id bigint generated always as identity not null,
  run_id bigint not null,
  subject text not null,
  field text not null,
  expected text not null,
  got text,
  constraint sync_notice_pkey PRIMARY KEY (id)
);

create table sync_run (
  id bigint generated always as identity not null,
  kind text not null,
  trigger text not null,
  schedule text,
  due_at timestamp with time zone,
  upstream text not null,
  accept_loss boolean default false not null,
  state text default 'queued'::text not null,
  attempt integer default 0 not null,
  lease_owner text,
  lease_until timestamp with time zone,
  queued_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  checkpoint jsonb,
  mirrored_until timestamp with time zone,
  requests integer default 0 not null,
  pages integer default 0 not null,
  records integer default 0 not null,
  created integer default 0 not null,
  changed integer default 0 not null,
  unchanged integer default 0 not null,
  refused integer default 0 not null,
  deactivated integer default 0 not null,
  organisations integer default 0 not null,
  galleries integer default 0 not null,
  reports integer default 0 not null,
  reason text,
  error_code text,
  error_message text,
  losses integer default 0 not null,
  progress_at_loss bigint default 0 not null,
  constraint sync_run_pkey PRIMARY KEY (id),
  constraint sync_run_schedule_due_at_key UNIQUE (schedule, due_at),
  constraint sync_run_check CHECK ((schedule IS NULL) = (due_at IS NULL)),
  constraint sync_run_kind_check CHECK (kind = ANY (ARRAY['full'::text, 'incremental'::text])),
  constraint sync_run_state_check CHECK (state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'held'::text, 'failed'::text, 'skipped'::text])),
  constraint sync_run_trigger_check CHECK (trigger = ANY (ARRAY['schedule'::text, 'start'::text, 'manual'::text, 'watchdog'::text]))
);

create table taken_lock (
  name text not null,
  owner uuid not null,
  until timestamp with time zone not null,
  constraint taken_lock_pkey PRIMARY KEY (name)
);

create table theme (
  id text not null,
  name text not null,
  sector_code text,
  humanitarian boolean,
  name_source row_source default 'local'::text not null,
  constraint theme_pkey PRIMARY KEY (id),
  constraint theme_id_check CHECK (id <> ''::text),
  constraint theme_sector_code_check CHECK (sector_code ~ '^[0-9]{5}$'::text)
);

create table theme_alias (
  name text not null,
  theme_id text not null,
  constraint theme_alias_pkey PRIMARY KEY (name),
  constraint theme_alias_name_check CHECK (name <> ''::text)
);

create table upstream_project (
  project_id bigint not null,
  since_run_id bigint not null,
  seen_run_id bigint not null,
  present boolean default true not null,
  gallery_key text,
  reports_key text,
  constraint upstream_project_pkey PRIMARY KEY (project_id)
);

create table upstream_trait (
  upstream text not null,
  understands_modified_since boolean not null,
  detected_at timestamp with time zone not null,
  constraint upstream_trait_pkey PRIMARY KEY (upstream)
);

create table video (
  project_id bigint not null,
  position integer not null,
  url text not null,
  constraint video_pkey PRIMARY KEY (project_id, "position")
);

create table webhook_event (
  id bigint generated always as identity not null,
  gateway text not null,
  event_id text not null,
  kind text not null,
  charge_id text,
  reference text,
  occurred_at timestamp with time zone not null,
  received_at timestamp with time zone not null,
  state text not null,
  outcome text,
  tries integer default 0 not null,
  next_at timestamp with time zone not null,
  constraint webhook_event_pkey PRIMARY KEY (id),
  constraint webhook_event_gateway_event_id_key UNIQUE (gateway, event_id),
  constraint webhook_event_has_charge CHECK (state = 'ignored'::text OR charge_id IS NOT NULL),
  constraint webhook_event_state_check CHECK (state = ANY (ARRAY['due'::text, 'done'::text, 'ignored'::text, 'failed'::text])),
  constraint webhook_event_tries_check CHECK (tries >= 0)
);

create table wire_record (
  project_id bigint not null,
  version bigint not null,
  xml text not null,
  json text not null,
  mapping integer not null,
  summary_xml text not null,
  summary_json text not null,
  constraint wire_record_pkey PRIMARY KEY (project_id)
);
alter table wire_record alter column "json" set storage external;
alter table wire_record alter column summary_json set storage external;
alter table wire_record alter column summary_xml set storage external;
alter table wire_record alter column xml set storage external;

create table wrong_clock (
  owner text not null,
  skew_seconds bigint not null,
  seen_at timestamp with time zone not null,
  constraint wrong_clock_pkey PRIMARY KEY (owner)
);

-- References between tables

alter table access_token add constraint access_token_api_key_id_fkey
  FOREIGN KEY (api_key_id) REFERENCES api_key(id);
alter table account_code add constraint account_code_invitation_id_fkey
  FOREIGN KEY (invitation_id) REFERENCES account_code(id) ON DELETE CASCADE;
alter table account_grant add constraint account_grant_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table activity_rows add constraint activity_rows_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES rendering(project_id) ON DELETE CASCADE;
alter table api_key add constraint api_key_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES account(id);
alter table charge_state add constraint charge_state_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table country add constraint country_region_name_fkey
  FOREIGN KEY (region_name) REFERENCES region(name);
alter table disbursement add constraint disbursement_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id);
alter table disbursement add constraint disbursement_receiver_id_fkey
  FOREIGN KEY (receiver_id) REFERENCES organisation(id);
alter table donation add constraint donation_api_key_id_fkey
  FOREIGN KEY (api_key_id) REFERENCES api_key(id);
alter table donation add constraint donation_funder_id_fkey
  FOREIGN KEY (funder_id) REFERENCES organisation(id);
alter table donation add constraint donation_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id);
alter table donation_event add constraint donation_event_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table donation_month add constraint donation_month_funder_id_fkey
  FOREIGN KEY (funder_id) REFERENCES organisation(id);
alter table donation_month add constraint donation_month_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table donation_option add constraint donation_option_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table donation_plan add constraint donation_plan_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table donation_plan_charge add constraint donation_plan_charge_plan_id_fkey
  FOREIGN KEY (plan_id) REFERENCES donation_plan(id) ON DELETE CASCADE;
alter table donation_refund add constraint donation_refund_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table donor add constraint donor_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table donor_mail add constraint donor_mail_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table followed_project add constraint followed_project_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table import_line add constraint import_line_import_id_fkey
  FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE;
alter table import_source_file add constraint import_source_file_source_fkey
  FOREIGN KEY (source) REFERENCES import_source(name) ON UPDATE CASCADE ON DELETE CASCADE;
alter table import_source_reading add constraint import_source_reading_source_fkey
  FOREIGN KEY (source) REFERENCES import_source(name) ON UPDATE CASCADE ON DELETE CASCADE;
alter table import_source_record add constraint import_source_record_source_fkey
  FOREIGN KEY (source) REFERENCES import_source(name) ON UPDATE CASCADE ON DELETE CASCADE;
alter table imported_gift add constraint imported_gift_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table imported_month add constraint imported_month_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table kept_activity add constraint kept_activity_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table organisation_country add constraint organisation_country_country_code_fkey
  FOREIGN KEY (country_code) REFERENCES country(code);
alter table organisation_country add constraint organisation_country_organisation_id_fkey
  FOREIGN KEY (organisation_id) REFERENCES organisation(id) ON DELETE CASCADE;
alter table organisation_record add constraint organisation_record_organisation_id_fkey
  FOREIGN KEY (organisation_id) REFERENCES organisation(id) ON DELETE CASCADE;
alter table organisation_theme add constraint organisation_theme_organisation_id_fkey
  FOREIGN KEY (organisation_id) REFERENCES organisation(id) ON DELETE CASCADE;
alter table organisation_theme add constraint organisation_theme_theme_id_fkey
  FOREIGN KEY (theme_id) REFERENCES theme(id);
alter table organisation_version add constraint organisation_version_organisation_id_fkey
  FOREIGN KEY (organisation_id) REFERENCES organisation(id) ON DELETE CASCADE;
alter table payout_plan add constraint payout_plan_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table photo add constraint photo_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table progress_report add constraint progress_report_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table project add constraint project_organisation_id_fkey
  FOREIGN KEY (organisation_id) REFERENCES organisation(id);
alter table project_country add constraint project_country_country_code_fkey
  FOREIGN KEY (country_code) REFERENCES country(code);
alter table project_country add constraint project_country_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table project_sdg add constraint project_sdg_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table project_search add constraint project_search_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table project_theme add constraint project_theme_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table project_theme add constraint project_theme_theme_id_fkey
  FOREIGN KEY (theme_id) REFERENCES theme(id);
alter table project_version add constraint project_version_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table receipt_mail add constraint receipt_mail_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table reconciliation_difference add constraint reconciliation_difference_donation_id_fkey
  FOREIGN KEY (donation_id) REFERENCES donation(id) ON DELETE CASCADE;
alter table release add constraint release_run_id_fkey
  FOREIGN KEY (run_id) REFERENCES run(id);
alter table rendering add constraint rendering_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table rendering add constraint rendering_run_id_fkey
  FOREIGN KEY (run_id) REFERENCES run(id);
alter table report_feed add constraint report_feed_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table report_image add constraint report_image_report_id_fkey
  FOREIGN KEY (report_id) REFERENCES progress_report(id) ON DELETE CASCADE;
alter table run_line add constraint run_line_run_id_fkey
  FOREIGN KEY (run_id) REFERENCES run(id) ON DELETE CASCADE;
alter table run_shard add constraint run_shard_run_id_fkey
  FOREIGN KEY (run_id) REFERENCES run(id) ON DELETE CASCADE;
alter table sandbox_refund add constraint sandbox_refund_charge_id_fkey
  FOREIGN KEY (charge_id) REFERENCES sandbox_charge(id);
alter table sign_in_place add constraint sign_in_place_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
alter table subscription add constraint subscription_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table subscription_mail add constraint subscription_mail_subscription_id_fkey
  FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE;
alter table sync_notice add constraint sync_notice_run_id_fkey
  FOREIGN KEY (run_id) REFERENCES sync_run(id) ON DELETE CASCADE;
alter table theme_alias add constraint theme_alias_theme_id_fkey
  FOREIGN KEY (theme_id) REFERENCES theme(id) ON DELETE CASCADE;
alter table video add constraint video_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;
alter table wire_record add constraint wire_record_project_id_fkey
  FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE;

-- Constraints that rows from before may break

alter table country add constraint country_has_name CHECK (name <> ''::text) NOT VALID;
alter table disbursement add constraint disbursement_amount_is_a_number CHECK (amount <> 'NaN'::numeric) NOT VALID;
alter table disbursement add constraint disbursement_original_check CHECK ((original_amount IS NULL) = (original_currency IS NULL) AND COALESCE(original_currency ~ '^[A-Z]{3}$'::text, true) AND original_currency IS DISTINCT FROM currency AND COALESCE((original_amount * amount) > 0::numeric, true)) NOT VALID;
alter table donation add constraint donation_settled_money_check CHECK (num_nonnulls(settled_amount, settled_addon, settled_currency) = ANY (ARRAY[0, 3])) NOT VALID;
alter table donation add constraint donation_waits_for_check CHECK (waits_for = ANY (ARRAY['donor'::text, 'processor'::text])) NOT VALID;
alter table donation_month add constraint donation_month_amount_is_a_number CHECK (amount <> 'NaN'::numeric) NOT VALID;
alter table donation_month add constraint month_amount_has_sign_of_its_kind CHECK (
CASE kind
    WHEN 'refund'::text THEN amount <= 0::numeric
    WHEN 'fee'::text THEN true
    ELSE amount >= 0::numeric
END) NOT VALID;
alter table donation_option add constraint donation_option_amount_is_a_number CHECK (amount <> 'NaN'::numeric) NOT VALID;
alter table donation_option add constraint option_amount_is_whole CHECK (amount = trunc(amount)) NOT VALID;
alter table donation_plan add constraint donation_plan_not_early CHECK (state <> 'active'::text OR look_at >= next_at) NOT VALID;
alter table organisation add constraint organisation_external_id_check CHECK (external_id ~ '^[^[:cntrl:]]{1,200}$'::text AND external_id = btrim(external_id) AND external_id !~ '^[1-9][0-9]{0,15}$'::text) NOT VALID;
alter table organisation add constraint organisation_has_name CHECK (name <> ''::text) NOT VALID;
alter table payout_plan add constraint payout_plan_amount_is_a_number CHECK (amount <> 'NaN'::numeric) NOT VALID;
alter table progress_report add constraint progress_report_external_id_check CHECK (external_id ~ '^[^[:cntrl:]]{1,200}$'::text AND external_id = btrim(external_id) AND external_id !~ '^[1-9][0-9]{0,15}$'::text) NOT VALID;
alter table progress_report add constraint report_has_title CHECK (title <> ''::text) NOT VALID;
alter table progress_report add constraint report_has_web_address CHECK (url ~ '^https?://'::text) NOT VALID;
alter table progress_report add constraint report_not_updated_before_published CHECK (updated_at >= published_at) NOT VALID;
alter table project add constraint project_external_id_check CHECK (external_id ~ '^[^[:cntrl:]]{1,200}$'::text AND external_id = btrim(external_id) AND external_id !~ '^[1-9][0-9]{0,15}$'::text) NOT VALID;
alter table project add constraint project_funding_is_a_number CHECK (funding <> 'NaN'::numeric) NOT VALID;
alter table project add constraint project_goal_is_a_number CHECK (goal <> 'NaN'::numeric) NOT VALID;
alter table project add constraint project_iati_identifier_check CHECK (iati_identifier ~ '^[^[:space:][:cntrl:]]([^[:cntrl:]]*[^[:space:][:cntrl:]])?$'::text AND length(iati_identifier) <= 1000) NOT VALID;
alter table project add constraint project_remaining_is_a_number CHECK (remaining <> 'NaN'::numeric) NOT VALID;
alter table theme add constraint theme_has_name CHECK (name <> ''::text) NOT VALID;

-- Indexes

CREATE INDEX access_token_expiry ON access_token USING btree (expires_at);
CREATE INDEX access_token_key ON access_token USING btree (api_key_id, issued_at DESC);
CREATE UNIQUE INDEX account_email ON account USING btree (lower(email));
CREATE INDEX account_code_expiry ON account_code USING btree (expires_at);
CREATE INDEX account_code_invitation ON account_code USING btree (invitation_id) WHERE invitation_id IS NOT NULL;
CREATE INDEX account_code_mail ON account_code USING btree (mail_at) WHERE mail_at IS NOT NULL;
CREATE INDEX api_key_account ON api_key USING btree (account_id);
CREATE INDEX asked_mail_asked ON asked_mail USING btree (asked_at);
CREATE INDEX asked_mail_subject ON asked_mail USING btree (subject, asked_at);
CREATE INDEX attempt_count_age ON attempt_count USING btree (last_at);
CREATE INDEX audit_event_time ON audit_event USING btree (at);
CREATE INDEX charge_state_attention ON charge_state USING btree (donation_id) WHERE difference IS NOT NULL OR dispute = 'open'::text;
CREATE INDEX disbursement_day ON disbursement USING btree (disbursed_on) INCLUDE (amount, currency);
CREATE INDEX disbursement_project ON disbursement USING btree (project_id, disbursed_on, id);
CREATE INDEX donation_failed ON donation USING btree (lease_until) WHERE status = 'failed'::text AND lease_until IS NOT NULL;
CREATE UNIQUE INDEX donation_idempotency ON donation USING btree (api_key_id, idempotency_key) WHERE idempotency_key IS NOT NULL AND status <> 'failed'::text;
CREATE INDEX donation_open ON donation USING btree (lease_until) WHERE status = 'received'::text;
CREATE INDEX donation_project ON donation USING btree (project_id, settled_at);
CREATE INDEX donation_test ON donation USING btree (id) WHERE gateway ~~ '%sandbox'::text;
CREATE INDEX donation_event_donation ON donation_event USING btree (donation_id, id);
CREATE INDEX donation_month_fee ON donation_month USING btree (month) INCLUDE (amount, currency) WHERE kind = 'fee'::text;
CREATE INDEX donation_plan_due ON donation_plan USING btree (look_at) WHERE state = ANY (ARRAY['starting'::text, 'active'::text]);
CREATE INDEX donation_plan_tell ON donation_plan USING btree (tell_at) WHERE tell_at IS NOT NULL;
CREATE INDEX donation_refund_donation ON donation_refund USING btree (donation_id);
CREATE UNIQUE INDEX donation_refund_open ON donation_refund USING btree (donation_id) WHERE done_at IS NULL;
CREATE INDEX donor_email ON donor USING btree (lower(email)) WHERE email IS NOT NULL;
CREATE INDEX donor_email_hash ON donor USING btree (email_hash);
CREATE INDEX donor_mail_due ON donor_mail USING btree (next_at, id) WHERE state = 'due'::text;
CREATE INDEX donor_mail_unsent ON donor_mail USING btree (state) WHERE state <> 'sent'::text;
CREATE INDEX imported_gift_project ON imported_gift USING btree (project_id);
CREATE INDEX organisation_bridge ON organisation USING btree (bridge_id) WHERE bridge_id IS NOT NULL;
CREATE UNIQUE INDEX organisation_external_id ON organisation USING btree (external_id);
CREATE INDEX organisation_ref ON organisation USING btree (COALESCE(org_ref, 'US-EIN-'::text || regexp_replace(ein, '[^0-9]'::text, ''::text, 'g'::text)) COLLATE "C", id) WHERE org_ref IS NOT NULL OR ein IS NOT NULL;
CREATE INDEX organisation_version_changed ON organisation_version USING btree (changed_at, organisation_id);
CREATE INDEX payout_plan_day ON payout_plan USING btree (planned_on);
CREATE INDEX payout_plan_project ON payout_plan USING btree (project_id, planned_on, reference);
CREATE INDEX processor_entry_charge ON processor_entry USING btree (charge_id);
CREATE INDEX processor_entry_reference ON processor_entry USING btree (reference);
CREATE INDEX processor_entry_settled ON processor_entry USING btree (gateway, settled_at);
CREATE UNIQUE INDEX progress_report_external_id ON progress_report USING btree (external_id);
CREATE INDEX progress_report_project ON progress_report USING btree (project_id, published_at DESC, id DESC);
CREATE INDEX progress_report_recent ON progress_report USING btree (published_at DESC, id DESC);
CREATE INDEX project_active ON project USING btree (id) WHERE active;
CREATE INDEX project_approved ON project USING btree (approved_date);
CREATE UNIQUE INDEX project_external_id ON project USING btree (external_id);
CREATE UNIQUE INDEX project_iati_identifier ON project USING btree (iati_identifier);
CREATE INDEX project_organisation ON project USING btree (organisation_id, id);
CREATE INDEX project_country_code ON project_country USING btree (country_code, project_id);
CREATE INDEX project_search_document ON project_search USING gin (document);
CREATE INDEX project_theme_id ON project_theme USING btree (theme_id, project_id);
CREATE INDEX project_version_changed ON project_version USING btree (changed_at, project_id);
CREATE INDEX project_version_dirty ON project_version USING btree (project_id) WHERE dirty;
CREATE INDEX published_identifier_segment ON published_identifier USING btree (segment, project_id);
CREATE INDEX receipt_mail_due ON receipt_mail USING btree (next_at, donation_id) WHERE state = 'due'::text;
CREATE INDEX receipt_mail_unsent ON receipt_mail USING btree (state) WHERE state <> 'sent'::text;
CREATE INDEX reconciliation_difference_day ON reconciliation_difference USING btree (gateway, day);
CREATE INDEX reconciliation_difference_donation ON reconciliation_difference USING btree (donation_id);
CREATE UNIQUE INDEX release_live ON release USING btree (state) WHERE state = 'live'::text;
CREATE INDEX release_event_release ON release_event USING btree (release_id, id);
CREATE INDEX rendering_held ON rendering USING btree (project_id) WHERE verdict = 'held'::text;
CREATE INDEX rendering_segment ON rendering USING btree (segment, project_id);
CREATE INDEX rendering_valid_until ON rendering USING btree (valid_until, project_id) WHERE valid_until IS NOT NULL;
CREATE UNIQUE INDEX run_running ON run USING btree (state) WHERE state = 'running'::text;
CREATE INDEX run_unfinished ON run USING btree (id) WHERE state = ANY (ARRAY['queued'::text, 'running'::text]);
CREATE INDEX run_line_run ON run_line USING btree (run_id, id);
CREATE UNIQUE INDEX search_change_of_project ON search_change USING btree (xid, project_id) NULLS NOT DISTINCT;
CREATE INDEX subscription_email_hash ON subscription USING btree (email_hash);
CREATE INDEX subscription_requested ON subscription USING btree (requested_at);
CREATE INDEX subscription_mail_due ON subscription_mail USING btree ((report <> ''::text), next_at, id) WHERE state = 'due'::text;
CREATE INDEX subscription_mail_sent ON subscription_mail USING btree (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX sync_notice_run ON sync_notice USING btree (run_id, id);
CREATE UNIQUE INDEX sync_run_running ON sync_run USING btree (state) WHERE state = 'running'::text;
CREATE INDEX sync_run_unfinished ON sync_run USING btree (id) WHERE state = ANY (ARRAY['queued'::text, 'running'::text]);
CREATE UNIQUE INDEX theme_alias_any_case ON theme_alias USING btree (lower(name));
CREATE INDEX theme_alias_theme ON theme_alias USING btree (theme_id);
CREATE INDEX webhook_event_charge ON webhook_event USING btree (gateway, charge_id);
CREATE INDEX webhook_event_due ON webhook_event USING btree (next_at, id) WHERE state = 'due'::text;
CREATE INDEX webhook_event_failed ON webhook_event USING btree (id) WHERE state = 'failed'::text;

-- Functions

CREATE OR REPLACE FUNCTION public.changes_known_until(seen pg_snapshot)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
declare
  earliest timestamptz;
  all_found boolean;
begin
  select min(a.xact_start), coalesce(bool_and(a.xact_start is not null), true)
      and not exists (
        select from pg_snapshot_xip(seen) running (xid)
        where running.xid::xid not in (select b.backend_xid from pg_stat_activity b where b.backend_xid is not null))
    into earliest, all_found
    from pg_stat_activity a where a.backend_xid is not null;
  if not all_found or pg_snapshot_xmax(pg_current_snapshot()) <> pg_snapshot_xmax(seen) then
    return null;
  end if;
  return least(statement_timestamp(), earliest);
end $function$;

CREATE OR REPLACE FUNCTION public.expected_identifier(project bigint, wanted text, configured text)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with known as (
    select array(select ref from publisher union select configured
      where configured is not null and not exists (select from publisher) order by 1) as refs,
      coalesce(current_setting('giving.moving', true), '') = 'on'
        or exists (select from kept_activity where project_id = $1) as is_moved
  ), other as (
    select id from project where iati_identifier = wanted and id <> $1
    union all select i.project_id from published_identifier i where i.identifier = wanted and i.project_id <> $1
    -- The identifier that a project gets by default ends with its id.
    union all select r.project_id from rendering r join project p on p.id = r.project_id
      where r.project_id = substring(wanted from '-([0-9]{1,15})$')::bigint and r.identifier = wanted
        and p.iati_identifier is null and p.id <> $1
  )
  select case
    when i.identifier <> coalesce(wanted, '') then
      format('%s, under which project %s was published: a published identifier never changes', i.identifier, $1)
    when wanted is null then null
    when not is_moved and not (wanted ~ '^[!#-%''-.0-;=@-\[\]-{}~]+$'
        and strpos(wanted, '-') > 1 and right(wanted, 1) <> '-' and length(wanted) <= 255)
      then 'an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \'
    when not is_moved and refs <> '{}' and (wanted = any (refs)
        or not exists (select from unnest(refs) ref where starts_with(wanted, ref || '-') and length(wanted) > length(ref) + 1))
      then format('an identifier that begins with %s- (giving publisher change tells of another identifier of the publisher)',
        array_to_string(refs, '- or '))
    when exists (select from other) then
      format('an identifier of its own, and project %s has this one', (select min(id) from other))
  end
  from known left join published_identifier i on i.project_id = $1
$function$;

CREATE OR REPLACE FUNCTION public.fold_search(words text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select case when octet_length(words) = length(words) then lower(words) else
    regexp_replace(replace(replace(replace(
      translate(
        lower(regexp_replace(regexp_replace(
          regexp_replace(
            translate(normalize(words, NFKD), U&'\2018\2019\02BC\2032\201C\201D\201E\00AB\00BB', '''''''''"""""'),
            U&'[\0300-\036F\0483-\0489\0591-\05BD\05BF\0610-\061A\0640\064B-\065F\0670\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF\3099\309A]', '', 'g'),
          U&'[\00A1-\00BF\2000-\206F\3000-\303F]', ' ', 'g'),
          U&'([\0E00-\0EFF\1000-\109F\1780-\17FF\3040-\30FF\3400-\9FFF])', ' \1 ', 'g')),
        'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏØøŁłĐđıÆŒẞةٱىیکς',
        'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџoollddiæœßهاييكσ'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    U&'(^|[^\0620-\064A])(?:[وفبك]?ال|لل)(?=[\0620-\064A]{3})', '\1', 'g')
  end
$function$;

CREATE OR REPLACE FUNCTION public.import_columns(name text, except_these text)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(array_agg(attname::text order by attnum), '{}') from pg_attribute
  where attrelid = name::regclass and attnum > 0 and not attisdropped and attname <> all (string_to_array(except_these, ' '))
$function$;

CREATE OR REPLACE FUNCTION public.import_fits(name text, keys text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select string_agg(format(case when attnotnull then 't.%1$I = (%2$s).%1$I' else 't.%1$I is not distinct from (%2$s).%1$I' end, attname, 'k'), ' and ')
  from pg_attribute where attrelid = name::regclass and attname = any (string_to_array(keys, ' '))
$function$;

CREATE OR REPLACE FUNCTION public.import_needed(undone bigint, parent text, kept bigint[])
 RETURNS TABLE(outcome text, what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint)
 LANGUAGE plpgsql
 STABLE
AS $function$
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
        (select max(l.import_id) from import_change l where l.turn > c.turn and l.import_id <> $1 and l.table_name = %3$L and l.key = x.key), x.rows
      from %4$s cross join lateral (
        select to_jsonb(x) - %5$L::text[] as key, count(*) over () as rows from %3$I x where x.%6$I = k.%7$I and not (%8$s) limit 1) x
      where c.import_id = $1 and c.table_name = %2$L and c.before is null and c.after is not null and %9$s
      order by c.key limit 100', 'needed', parent, one.child, import_touched(parent), import_columns(one.child, one.child_keys),
      one.child_column, one.parent_column, import_spared(one.child),
      case when parent = 'project' then 'k.id <> all ($2)' else 'true' end) using undone, kept;
    if found then return; end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.import_recalled(undone bigint)
 RETURNS TABLE(what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint)
 LANGUAGE plpgsql
 STABLE
AS $function$
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
        on l.turn > c.turn and l.import_id <> undone and l.table_name = one.child and l.before ->> one.child_column = c.key ->> one.parent_column
      where c.import_id = undone and c.table_name = one.parent and c.before is null and c.after is not null
        and not exists (select from published_identifier i
          where one.parent = 'project' and i.project_id = (c.key ->> 'id')::bigint and i.withdrawn_at is null)
      group by c.key order by c.key limit 100;
    if found then return; end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.import_references(parent text)
 RETURNS TABLE(child text, child_column text, parent_column text)
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.import_spared(name text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when name = 'project' then 'x.id = any ($2)'
    when name = 'kept_organisation' then 'false'
    when name = 'report_image' then 'exists (select from progress_report r where r.id = x.report_id and r.project_id = any ($2))'
    else coalesce((
      select format('exists (select from import_change o where o.import_id = $1 and o.table_name = %L and o.before is null
          and o.key = jsonb_build_object(%L, x.%I))', owner, id, reference)
      from (values ('organisation_country', 'organisation', 'id', 'organisation_id'), ('organisation_theme', 'organisation', 'id', 'organisation_id'),
        ('theme_alias', 'theme', 'id', 'theme_id'), ('country', 'country', 'code', 'code')) v (child, owner, id, reference)
      where child = name), 'x.project_id = any ($2)')
  end
$function$;

CREATE OR REPLACE FUNCTION public.import_tables()
 RETURNS TABLE(place integer, name text, keys text, unkept text, loose text)
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
    (23, 'kept_activity', 'project_id', '', ''),
    (24, 'kept_organisation', 'identifier', '', '')
$function$;

CREATE OR REPLACE FUNCTION public.import_touched(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select format('import_change c cross join lateral jsonb_populate_record(null::%I, c.key) k', name)
$function$;

CREATE OR REPLACE FUNCTION public.keep_audit_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    if old.at < now() - interval '399 days' then return old; end if;
  end if;
  raise exception 'audit_event: expected the entries of the last 399 days to stay as they are, got %', lower(tg_op)
    using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.keep_original_goal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.original_goal := new.goal;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.known_currencies()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO '$user', 'public'
AS $function$
  select string_to_array(translate('
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYR BYN
    BZD CAD CDF CHF CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV
    MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
    SGD SHP SLE SLL SOS SSP SRD STD STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN USS
    UYI UYU UZS VED VEF VES VND VUV WST XAF XBT XCD XDR XOF XPF YER ZAR ZMK ZMW ZWL
  ', E'\n', ' '), ' ')
$function$;

CREATE OR REPLACE FUNCTION public.mark()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  searched constant text[] := array['project_search', 'project_country', 'project_theme'];
  touched bigint[];
  dirty bigint[];
  organisations bigint[];
  siblings bigint[];
  documents bigint[];
  hits bigint[];
  segments integer[];
begin
  if tg_op = 'TRUNCATE' then
    if tg_table_name = any (searched) then
      hits := array[null::bigint];
    else
      segments := array(select segment from segment_summary);
    end if;
  elsif not exists (select from changed) then
    -- Most writes to a project run statements on its tables that change no row.
    return null;
  elsif tg_table_name = 'project' then
    if tg_op = 'UPDATE' then
      dirty := array(select id from changed);
      siblings := array(
        select unnest(array[o.organisation_id, n.organisation_id]) from old_rows o join changed n using (id)
        where o.organisation_id is distinct from n.organisation_id or o.active <> n.active);
      documents := array(
        select n.id from old_rows o join changed n using (id)
        where row (o.active, o.title, o.summary, o.need, o.activities, o.country_name, o.organisation_id)
          is distinct from row (n.active, n.title, n.summary, n.need, n.activities, n.country_name, n.organisation_id));
    else
      siblings := array(select distinct organisation_id from changed where organisation_id is not null);
      if tg_op = 'INSERT' then
        dirty := array(select id from changed);
        documents := array(select id from changed where active);
      end if;
    end if;
  elsif tg_table_name = 'organisation' then
    organisations := array(select id from changed);
    if tg_op = 'UPDATE' then
      dirty := array(
        select p.id from project p join changed o on p.organisation_id = o.id
        union select m.project_id from donation_month m join changed o on m.funder_id = o.id
        union select d.project_id from disbursement d join changed o on d.receiver_id = o.id);
      documents := array(
        select p.id from old_rows o join changed n using (id) join project p on p.organisation_id = n.id
        where p.active and o.name <> n.name);
    end if;
  elsif tg_table_name in ('organisation_country', 'organisation_theme') then
    organisations := array(select distinct organisation_id from changed);
    if tg_op <> 'UPDATE' then
      dirty := array(select id from project where organisation_id = any (organisations));
    end if;
  elsif tg_table_name = 'country' then
    dirty := array(
      select c.project_id from project_country c join changed n on c.country_code = n.code
      union select p.id from project p join organisation_country c using (organisation_id) join changed n
        on c.country_code = n.code);
    organisations := array(
      select c.organisation_id from organisation_country c join changed n on c.country_code = n.code);
    documents := array(
      select k.project_id from old_rows o join changed n using (code) join project_country k on k.country_code = n.code
      where o.name <> n.name);
  elsif tg_table_name = 'theme' then
    dirty := array(
      select t.project_id from project_theme t join changed n on t.theme_id = n.id
      union select p.id from project p join organisation_theme t using (organisation_id) join changed n
        on t.theme_id = n.id);
    organisations := array(select t.organisation_id from organisation_theme t join changed n on t.theme_id = n.id);
  elsif tg_table_name = 'report_image' then
    dirty := array(select r.project_id from progress_report r join changed c on r.id = c.report_id);
  elsif tg_table_name = 'rendering' then
    segments := array(select distinct segment from changed where segment is not null);
    if tg_op = 'UPDATE' then
      segments := array(select unnest(segments) union select segment from old_rows where segment is not null);
    else
      -- Most statements that insert renderings update those that are there.
      insert into content_change (kind)
      select 'organisations' where exists (select from changed where text is not null);
    end if;
  elsif tg_table_name = 'activity_rows' then
    segments := array(
      select distinct r.segment from changed join rendering r using (project_id) where r.segment is not null);
  else
    touched := array(select distinct project_id from changed);
    if tg_op = 'UPDATE' then
      touched := array(select unnest(touched) union select project_id from old_rows);
    end if;
    if tg_table_name <> 'project_search' then
      dirty := touched;
    end if;
    if tg_table_name = 'project_country' and tg_op <> 'UPDATE' then
      documents := touched;
    end if;
    -- A remembered list of hits is mended by looking at the projects named; null: any number of them.
    if tg_table_name = any (searched) then
      hits := case when cardinality(touched) > 1000 then array[null::bigint] else touched end;
    end if;
  end if;

  if cardinality(dirty) > 0 then perform mark_projects(dirty); end if;
  if cardinality(organisations) > 0 then perform move_organisations(organisations); end if;
  if cardinality(siblings) > 0 then perform move_versions_of_siblings(siblings); end if;
  if cardinality(documents) > 0 then perform refresh_search(documents); end if;
  if cardinality(hits) > 0 then
    insert into search_change (project_id) select unnest(hits) on conflict do nothing;
  end if;
  if cardinality(segments) > 0 then
    insert into segment_change (segment) select unnest(segments);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.mark_content()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into content_change (kind) values (tg_argv[0]);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.mark_freed_identifier()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'DELETE' or new.iati_identifier is distinct from old.iati_identifier then
    perform mark_projects(array[substring(old.iati_identifier from '-([0-9]{1,15})$')::bigint]);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.mark_projects(ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into project_version (project_id, version, changed_at, dirty)
  select p.id, nextval('project_version_seq'), clock_timestamp(), true
  from (select id from project where id = any (ids) order by id) p
  where not exists (
    select from project_version v
    where v.project_id = p.id and v.dirty and v.xmin = pg_current_xact_id_if_assigned()::xid)
  on conflict (project_id) do update
    set version = excluded.version, changed_at = excluded.changed_at, dirty = true;
end $function$;

CREATE OR REPLACE FUNCTION public.merged_texts(stored jsonb, stated jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select jsonb_object_agg(key, value)
  from jsonb_each_text(coalesce(stored, '{}') || coalesce(stated, '{}')) where value <> ''
$function$;

CREATE OR REPLACE FUNCTION public.move_gift_turn()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if tg_level = 'STATEMENT' and tg_op <> 'TRUNCATE' then
    if not exists (select from old_rows) then return null; end if;
  end if;
  insert into store_fact as f (name, value, recorded_at) values ('gift-turn', '1', now())
  on conflict (name) do update set value = f.value::bigint + 1, recorded_at = excluded.recorded_at;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.move_organisations(ids bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into organisation_version (organisation_id, version, changed_at)
  select o.id, nextval('project_version_seq'), clock_timestamp()
  from (select id from organisation where id = any (ids) order by id) o
  on conflict (organisation_id) do update set version = excluded.version, changed_at = excluded.changed_at
$function$;

CREATE OR REPLACE FUNCTION public.move_versions_of_siblings(organisations bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  with counted as (
    select o.id from organisation o
    where o.id = any (organisations)
      and (o.stated_total_projects is null or o.stated_active_projects is null
        or (select count(*) from (select from project a where a.organisation_id = o.id and a.active limit 2) active) < 2)
  ), sibling as (
    select s.project_id
    from project_version s join project p on p.id = s.project_id
    where p.organisation_id in (select id from counted)
    order by s.project_id
    for update of s
  ), moved as (
    update project_version v set version = nextval('project_version_seq'), changed_at = clock_timestamp()
    from sibling where v.project_id = sibling.project_id
  )
  select move_organisations(array(select id from counted))
$function$;

CREATE OR REPLACE FUNCTION public.refresh_search(ids bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from project_search s
  where s.project_id = any (ids) and not exists (select from project p where p.id = s.project_id and p.active);
  insert into project_search (project_id, document, folded)
  select p.id,
    setweight(to_tsvector('english', fold_search(left(p.title, 20000))), 'A')
      || setweight(to_tsvector('english', fold_search(left(concat_ws(' ', o.name, p.country_name, (
        select string_agg(c.name, ' ' order by k.position)
        from project_country k join country c on c.code = k.country_code where k.project_id = p.id
      )), 20000))), 'B')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.summary, ''), 20000))), 'B')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.need, ''), 20000))), 'C')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.activities, ''), 20000))), 'C'),
    true
  from project p left join organisation o on o.id = p.organisation_id
  where p.id = any (ids) and p.active
  order by p.id
  on conflict (project_id) do update set document = excluded.document, folded = true
    where project_search.document <> excluded.document or not project_search.folded
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- What goes with the row it belongs to (removal of demo data) goes by a trigger of its foreign key.
  if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_deleting_published()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if exists (select from published_identifier where project_id = old.id and withdrawn_at is null) then
    raise exception 'project % is published and its identifier stays for ever: set active to false or status to retired', old.id
      using errcode = 'restrict_violation', table = 'project', constraint = 'published_project_stays';
  end if;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_identifier()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  expected text;
begin
  if tg_op = 'UPDATE' and new.iati_identifier is not distinct from old.iati_identifier
    or tg_op = 'INSERT' and new.iati_identifier is null
  then
    return new;
  end if;
  expected := expected_identifier(new.id, new.iati_identifier, null);
  if expected is not null then
    raise exception 'project.iati_identifier: expected %, got %', expected, coalesce(new.iati_identifier, 'null')
      using errcode = 'check_violation', table = 'project', column = 'iati_identifier';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_nonsense()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.remember_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.remember_project()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.say_what_is_refused()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.search_query(words text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select case when octet_length(q) = length(q) then websearch_to_tsquery('english', q)
    when q ~ '(^|[[:space:]])-' then websearch_to_tsquery('english', fold_search(q))
    else websearch_to_tsquery('english', q) || websearch_to_tsquery('english', fold_search(q)) end
  from regexp_replace(
    case when words ~ '["“”„«»]' then words
      else regexp_replace(words, U&'([\0E00-\0EFF\1000-\109F\1780-\17FF\3040-\30FF\3400-\9FFF\F900-\FAFF\FF66-\FF9F]+)', '"\1"', 'g') end,
    '(^|[[:space:]]-?|["“„«])[[:alpha:]][''’](?=\S)', '\1', 'g') q
$function$;

CREATE OR REPLACE FUNCTION public.undo_import(undone bigint)
 RETURNS TABLE(outcome text, what text, key jsonb, other text, other_key jsonb, by_import bigint, rows bigint)
 LANGUAGE plpgsql
AS $function$
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
        (select max(l.import_id) from import_change l where l.turn > c.turn and l.import_id <> $1 and l.table_name = c.table_name and l.key = c.key), 1::bigint
      from %s left join %I t on %s
      where c.import_id = $1 and c.table_name = %L and case
        when c.after is null then t.tableoid is not null and c.before is not null
        when t.tableoid is null then c.before is not null or exists (
          select from import_change l where l.turn > c.turn and l.import_id <> $1 and l.table_name = c.table_name and l.key = c.key)
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
end $function$;

-- Triggers

CREATE TRIGGER mark_delete AFTER DELETE ON activity_rows REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON activity_rows REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_truncate AFTER TRUNCATE ON activity_rows FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON activity_rows REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER keep_row BEFORE DELETE OR UPDATE ON audit_event FOR EACH ROW
  EXECUTE FUNCTION keep_audit_event();
CREATE TRIGGER keep_table BEFORE TRUNCATE ON audit_event FOR EACH STATEMENT
  EXECUTE FUNCTION keep_audit_event();
CREATE TRIGGER mark_update AFTER UPDATE ON country REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON country FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON country REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('code', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON country REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('code', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON country REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('code', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON country FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON disbursement REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON disbursement REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON disbursement FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_update AFTER UPDATE ON disbursement REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON disbursement FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('disbursed_on', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON disbursement REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON disbursement REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON disbursement REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON disbursement FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON donation_event FOR EACH ROW
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER mark_delete AFTER DELETE ON donation_month REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON donation_month REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON donation_month FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_update AFTER UPDATE ON donation_month REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON donation_month FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('month last_on', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON donation_month REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month currency kind source funder_id', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON donation_month REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month currency kind source funder_id', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON donation_month REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month currency kind source funder_id', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON donation_month FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON donation_option REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON donation_option REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON donation_option REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON donation_option FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON donation_option REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON donation_option REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON donation_option REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON donation_option FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER remember_delete AFTER DELETE ON imported_gift REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference_hash', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON imported_gift REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference_hash', '', '');
CREATE TRIGGER turn_delete AFTER DELETE ON imported_gift REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION move_gift_turn();
CREATE TRIGGER turn_truncate AFTER TRUNCATE ON imported_gift FOR EACH STATEMENT
  EXECUTE FUNCTION move_gift_turn();
CREATE TRIGGER turn_update AFTER UPDATE ON imported_gift REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION move_gift_turn();
CREATE TRIGGER remember_delete AFTER DELETE ON imported_month REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month kind funder_id', '', 'import_id');
CREATE TRIGGER remember_insert AFTER INSERT ON imported_month REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month kind funder_id', '', 'import_id');
CREATE TRIGGER remember_update AFTER UPDATE ON imported_month REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id month kind funder_id', '', 'import_id');
CREATE TRIGGER mark_delete AFTER DELETE ON kept_activity REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON kept_activity REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON kept_activity REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER remember_delete AFTER DELETE ON kept_activity REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON kept_activity REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON kept_activity REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id', '', '');
CREATE TRIGGER mark_write AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON kept_organisation FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER remember_delete AFTER DELETE ON kept_organisation REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('identifier', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON kept_organisation REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('identifier', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON kept_organisation REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('identifier', '', '');
CREATE TRIGGER mark_insert AFTER INSERT ON organisation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER UPDATE ON organisation FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name OR old.ein IS DISTINCT FROM new.ein OR old.org_ref IS DISTINCT FROM new.org_ref OR old.url IS DISTINCT FROM new.url OR old.language IS DISTINCT FROM new.language OR old.texts IS DISTINCT FROM new.texts)
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_update AFTER UPDATE ON organisation REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON organisation FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', 'url logo_url');
CREATE TRIGGER remember_delete AFTER DELETE ON organisation REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON organisation REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON organisation REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON organisation FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER turn_external_id AFTER UPDATE OF external_id ON organisation FOR EACH ROW WHEN (old.external_id IS NOT NULL AND old.external_id IS DISTINCT FROM new.external_id)
  EXECUTE FUNCTION move_gift_turn();
CREATE TRIGGER mark_delete AFTER DELETE ON organisation_country REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON organisation_country REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON organisation_country REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON organisation_country FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON organisation_country REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON organisation_country REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON organisation_country REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER mark_records AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON organisation_record FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('records');
CREATE TRIGGER mark_delete AFTER DELETE ON organisation_theme REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON organisation_theme REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON organisation_theme REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON organisation_theme FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON organisation_theme REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON organisation_theme REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON organisation_theme REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON organisation_version REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('organisation_id', 'version changed_at', '');
CREATE TRIGGER mark_delete AFTER DELETE ON payout_plan REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON payout_plan REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON payout_plan FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_update AFTER UPDATE ON payout_plan REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON payout_plan FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', 'planned_on', '');
CREATE TRIGGER remember_delete AFTER DELETE ON payout_plan REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON payout_plan REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON payout_plan REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('reference', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON payout_plan FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON photo REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON photo REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON photo REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON photo FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('taken_on', '', 'small_url thumbnail_url medium_url large_url extra_large_url original_url');
CREATE TRIGGER remember_delete AFTER DELETE ON photo REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON photo REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON photo REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON photo FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON progress_report REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON progress_report REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON progress_report REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON progress_report FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('published_at updated_at', '', 'url');
CREATE TRIGGER remember_delete AFTER DELETE ON progress_report REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON progress_report REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON progress_report REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON progress_report FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER keep_original_goal BEFORE INSERT OR UPDATE ON project FOR EACH ROW WHEN (new.original_goal IS NULL AND new.goal IS NOT NULL)
  EXECUTE FUNCTION keep_original_goal();
CREATE TRIGGER mark_delete AFTER DELETE ON project REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_freed_identifier AFTER DELETE OR UPDATE OF iati_identifier ON project FOR EACH ROW WHEN (old.iati_identifier ~ '-[0-9]{1,15}$'::text)
  EXECUTE FUNCTION mark_freed_identifier();
CREATE TRIGGER mark_insert AFTER INSERT ON project REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER UPDATE ON project FOR EACH ROW WHEN (old.organisation_id IS DISTINCT FROM new.organisation_id)
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_update AFTER UPDATE ON project REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_deleting_published BEFORE DELETE ON project FOR EACH ROW WHEN (old.source::text <> 'demo'::text)
  EXECUTE FUNCTION refuse_deleting_published();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR DELETE OR UPDATE ON project FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('date_of_most_recent_report modified_date', 'approved_date deadline', 'additional_documentation contact_url project_link progress_report_link image_link');
CREATE TRIGGER remember_delete AFTER DELETE ON project REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', 'funding number_of_donations remaining totals_changed_at', '');
CREATE TRIGGER remember_insert AFTER INSERT ON project REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', 'funding number_of_donations remaining totals_changed_at', '');
CREATE TRIGGER remember_update AFTER UPDATE ON project REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_project('funding number_of_donations remaining totals_changed_at');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON project FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER say_why_not_identifier BEFORE INSERT OR UPDATE OF iati_identifier ON project FOR EACH ROW
  EXECUTE FUNCTION refuse_identifier();
CREATE TRIGGER turn_external_id AFTER UPDATE OF external_id ON project FOR EACH ROW WHEN (old.external_id IS NOT NULL AND old.external_id IS DISTINCT FROM new.external_id)
  EXECUTE FUNCTION move_gift_turn();
CREATE TRIGGER mark_delete AFTER DELETE ON project_country REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON project_country REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_truncate AFTER TRUNCATE ON project_country FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON project_country REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON project_country FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON project_country REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON project_country REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON project_country REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON project_country FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON project_sdg REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON project_sdg REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON project_sdg REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON project_sdg FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON project_sdg REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id code', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON project_sdg REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id code', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON project_sdg REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id code', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON project_sdg FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON project_search REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON project_search REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_truncate AFTER TRUNCATE ON project_search FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON project_search REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_delete AFTER DELETE ON project_theme REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON project_theme REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_truncate AFTER TRUNCATE ON project_theme FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON project_theme REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON project_theme FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON project_theme REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON project_theme REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON project_theme REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON region FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON region REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON region REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON region REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER mark_activities AFTER INSERT OR DELETE OR UPDATE OF text, verdict OR TRUNCATE ON rendering FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('activities');
CREATE TRIGGER mark_delete AFTER DELETE ON rendering REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON rendering REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_organisations AFTER TRUNCATE ON rendering FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_organisations_of_updated AFTER UPDATE ON rendering FOR EACH ROW WHEN ((old.text IS NULL) <> (new.text IS NULL) OR old.identifier <> new.identifier)
  EXECUTE FUNCTION mark_content('organisations');
CREATE TRIGGER mark_truncate AFTER TRUNCATE ON rendering FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON rendering REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_delete AFTER DELETE ON report_image REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON report_image REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON report_image FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', 'url');
CREATE TRIGGER remember_delete AFTER DELETE ON report_image REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('report_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON report_image REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('report_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON report_image REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('report_id position', '', '');
CREATE TRIGGER mark_update AFTER UPDATE ON theme REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON theme FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON theme REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON theme REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON theme REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('id', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON theme FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON theme_alias FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', '');
CREATE TRIGGER remember_delete AFTER DELETE ON theme_alias REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON theme_alias REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON theme_alias REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('name', '', '');
CREATE TRIGGER say_what_is_refused BEFORE INSERT OR UPDATE ON theme_alias FOR EACH ROW
  EXECUTE FUNCTION say_what_is_refused();
CREATE TRIGGER mark_delete AFTER DELETE ON video REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_insert AFTER INSERT ON video REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER mark_update AFTER UPDATE ON video REFERENCING OLD TABLE AS old_rows NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION mark();
CREATE TRIGGER refuse_nonsense BEFORE INSERT OR UPDATE ON video FOR EACH ROW
  EXECUTE FUNCTION refuse_nonsense('', '', 'url');
CREATE TRIGGER remember_delete AFTER DELETE ON video REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_insert AFTER INSERT ON video REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER remember_update AFTER UPDATE ON video REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION remember_change('project_id position', '', '');
CREATE TRIGGER mark_records AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON wire_record FOR EACH STATEMENT
  EXECUTE FUNCTION mark_content('records');
