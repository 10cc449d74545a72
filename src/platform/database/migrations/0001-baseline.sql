-- breaking
-- The schema of version 1.0, made at once, but for the marks of changes (0048-marks.sql). It stands for migrations 1 to 46,
-- which versions before 1.0 applied one by one: a database that has them stays as it is (ADR 22 in docs/adr).
-- Constraints that are "not valid" were added when there were rows; a database from then may still have some that break them.

create domain row_source as text check (value in ('local', 'import', 'upstream', 'demo'));

-- The catalogue: organisations, projects and all that belongs to them, their reports. Every row knows its source.

create table region (
  name text primary key
);
comment on table region is 'Regions of the API.';
comment on column region.name is 'The name, which is also the key.';

create table country (
  code text primary key check (code ~ '^[A-Z]{2}$'),
  name text not null,
  region_name text references region (name)
);
alter table country add constraint country_has_name check (name <> '') not valid;
comment on table country is 'Countries that projects and organisations name. A row must exist before another names its code.';
comment on column country.code is 'ISO 3166-1 alpha-2, capital letters.';
comment on column country.name is 'English name, as the API answers it.';
comment on column country.region_name is 'Region of the API that the country belongs to; a row of region.';

create table theme (
  id text primary key check (id <> ''),
  name text not null,
  sector_code text check (sector_code ~ '^[0-9]{5}$'),
  humanitarian boolean not null default false,
  name_source row_source not null default 'local'
);
alter table theme add constraint theme_has_name check (name <> '') not valid;
comment on table theme is 'Themes that projects and organisations belong to.';
comment on column theme.id is 'Key of the theme in addresses of the API, for example edu.';
comment on column theme.name is 'Name, as the API and IATI narratives show it.';
comment on column theme.sector_code is 'OECD DAC purpose code of five digits (IATI vocabulary 1); without it the theme is published in the platform''s own vocabulary only.';
comment on column theme.humanitarian is 'True marks activities of this theme as humanitarian in IATI.';
comment on column theme.name_source is 'Who named it. The list of themes of an upstream renames a theme unless this is local, the operator; plain SQL writes local.';

create table theme_alias (
  name text primary key check (name <> ''),
  theme_id text not null references theme (id) on delete cascade
);
create unique index theme_alias_any_case on theme_alias (lower(name));
create index theme_alias_theme on theme_alias (theme_id);
comment on table theme_alias is 'Other spellings of a theme''s name: a project record that has only a name is given the theme.';
comment on column theme_alias.name is 'The other spelling; letter case does not matter.';
comment on column theme_alias.theme_id is 'The theme; a row of theme.';

create table organisation (
  id bigint primary key check (id > 0),
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
  stated_total_projects integer check (stated_total_projects >= 0),
  stated_active_projects integer check (stated_active_projects >= 0),
  org_ref text,
  org_type text check (org_type ~ '^[0-9]{2}$'),
  source row_source not null default 'local',
  unknown_fields jsonb,
  vetted boolean not null default true
);
alter table organisation add constraint organisation_has_name check (name <> '') not valid;
create index organisation_bridge on organisation (bridge_id) where bridge_id is not null;
-- Organisations with an identifier, in its order (US tax ids in the form that the mapping gives them).
create index organisation_ref on organisation (
  (coalesce(org_ref, 'US-EIN-' || regexp_replace(ein, '[^0-9]', '', 'g')) collate "C"), id
) where org_ref is not null or ein is not null;
comment on table organisation is 'Organisations: the partners that carry projects out, funders and receivers of payouts.';
comment on column organisation.id is 'Identifier in the API; permanent.';
comment on column organisation.bridge_id is 'Identifier in the registry of the BRIDGE programme, if it has one.';
comment on column organisation.name is 'Name; published.';
comment on column organisation.ein is 'Employer Identification Number of an organisation in the United States; makes its IATI identifier where org_ref is missing.';
comment on column organisation.address_line1 is 'Address, first line.';
comment on column organisation.address_line2 is 'Address, second line.';
comment on column organisation.city is 'City of the address.';
comment on column organisation.state is 'State or province of the address.';
comment on column organisation.postal is 'Postal code of the address.';
comment on column organisation.country_code is 'Country of the address, ISO 3166-1 alpha-2.';
comment on column organisation.country_name is 'Name of the address''s country.';
comment on column organisation.url is 'Web site, absolute address.';
comment on column organisation.logo_url is 'Logo, absolute address.';
comment on column organisation.mission is 'What the organisation does, plain text.';
comment on column organisation.stated_total_projects is 'Number of projects that the API answers; empty: counted.';
comment on column organisation.stated_active_projects is 'Number of active projects that the API answers; empty: counted.';
comment on column organisation.org_ref is 'IATI organisation identifier, for example GB-CHC-202918.';
comment on column organisation.org_type is 'Code of the IATI list OrganisationType, for example 22.';
comment on column organisation.source is 'Where the row came from; plain SQL writes local.';
comment on column organisation.vetted is 'True: the API lists the organisation among the vetted ones.';

create table organisation_country (
  organisation_id bigint not null references organisation (id) on delete cascade,
  position integer not null,
  country_code text not null references country (code),
  primary key (organisation_id, position)
);
comment on table organisation_country is 'Countries an organisation works in.';
comment on column organisation_country.organisation_id is 'The organisation.';
comment on column organisation_country.position is 'Order, from 0.';
comment on column organisation_country.country_code is 'The country; a row of country.';

create table organisation_theme (
  organisation_id bigint not null references organisation (id) on delete cascade,
  position integer not null,
  theme_id text not null references theme (id),
  primary key (organisation_id, position)
);
comment on table organisation_theme is 'Themes an organisation works on.';
comment on column organisation_theme.organisation_id is 'The organisation.';
comment on column organisation_theme.position is 'Order, from 0.';
comment on column organisation_theme.theme_id is 'The theme; a row of theme.';

create table project (
  id bigint primary key check (id > 0),
  organisation_id bigint references organisation (id),
  active boolean not null,
  status text not null check (status in ('active', 'funded', 'retired')),
  paused boolean not null default false,
  type text not null default 'project',
  title text not null check (title <> ''),
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
  goal numeric(18, 3) check (goal >= 0),
  funding numeric(18, 3) not null default 0,
  remaining numeric(18, 3) check (remaining >= 0),
  number_of_donations integer not null default 0 check (number_of_donations >= 0),
  number_of_reports integer check (number_of_reports >= 0),
  date_of_most_recent_report timestamptz,
  image_link text,
  image_title text,
  image_gallery_size integer check (image_gallery_size >= 0),
  latitude numeric check (latitude between -90 and 90),
  longitude numeric check (longitude between -180 and 180),
  approved_date timestamptz,
  modified_date timestamptz,
  deadline date,
  location_precision text not null default 'point' check (location_precision in ('point', 'country')),
  source row_source not null default 'local',
  -- The UTC day this store first saw the project; the last resort where the source gives no date at all.
  first_seen_on date not null default (now() at time zone 'UTC')::date,
  -- Hash of the source record as last written, so that an unchanged record is told without comparing fields.
  source_hash text,
  unknown_fields jsonb,
  -- The goal when this store first saw one: IATI reports it as the original budget beside a changed one.
  original_goal numeric(18, 3) check (original_goal >= 0),
  glide_number text check (glide_number ~ '^[A-Z]{2}-[0-9]{4}-[0-9]{6}-[A-Z]{3}$'),
  location_name text check (location_name <> ''),
  operator_state text check (operator_state in ('active', 'inactive', 'retired')),
  totals_changed_at timestamptz
);
create index project_active on project (id) where active;
create index project_organisation on project (organisation_id, id);
comment on table project is 'Projects: each becomes one IATI activity and one record of the API.';
comment on column project.id is 'Identifier in the API; part of the IATI identifier; permanent.';
comment on column project.organisation_id is 'The partner that carries the project out; without it the activity is published with a notice.';
comment on column project.active is 'True while the project takes donations. The API answers 410 for a project that is not active; its activity stays published.';
comment on column project.status is 'active, funded or retired; decides the IATI activity status.';
comment on column project.paused is 'The operator''s halt: IATI activity status 6.';
comment on column project.type is 'Kind of project in the API: project or microproject.';
comment on column project.title is 'Title; published.';
comment on column project.summary is 'Summary; IATI description type 1.';
comment on column project.need is 'The need; IATI description type 2.';
comment on column project.long_term_impact is 'Long-term impact; IATI description type 2.';
comment on column project.activities is 'Planned work; IATI description type 4.';
comment on column project.notice is 'A note that the API shows beside the project.';
comment on column project.additional_documentation is 'Address of a further document; IATI document-link.';
comment on column project.contact_name is 'Contact person; API only, never published in feeds.';
comment on column project.contact_title is 'Contact person''s function; API only.';
comment on column project.contact_address is 'Contact address, first line; API only.';
comment on column project.contact_address2 is 'Contact address, second line; API only.';
comment on column project.contact_city is 'Contact city; API only.';
comment on column project.contact_state is 'Contact state or province; API only.';
comment on column project.contact_postal is 'Contact postal code; API only.';
comment on column project.contact_country is 'Contact country; API only.';
comment on column project.contact_url is 'Web site of the contact, absolute address.';
comment on column project.project_link is 'Page of the project, absolute address.';
comment on column project.progress_report_link is 'Page of its progress reports, absolute address.';
comment on column project.theme_name is 'Name of the main theme, as the API answers it.';
comment on column project.country_name is 'Name of the main country, as the API answers it.';
comment on column project.country_code is 'Main country, ISO 3166-1 alpha-2.';
comment on column project.region_name is 'Region of the main country, as the API answers it.';
comment on column project.goal is 'Amount to be raised, in the platform''s currency.';
comment on column project.funding is 'Amount raised so far, as the API answers it. Keep it equal to the sum of donation_month without fees; giving books check tells where it is not.';
comment on column project.remaining is 'Amount still to be raised, as the API answers it.';
comment on column project.number_of_donations is 'Number of donations so far, as the API answers it.';
comment on column project.number_of_reports is 'Number of progress reports, as the API answers it.';
comment on column project.date_of_most_recent_report is 'Instant of the newest progress report, as the API answers it.';
comment on column project.image_link is 'Main picture, absolute address.';
comment on column project.image_title is 'Title of the main picture.';
comment on column project.image_gallery_size is 'Number of pictures in the gallery, as the API answers it.';
comment on column project.latitude is 'Latitude in degrees, WGS 84.';
comment on column project.longitude is 'Longitude in degrees, WGS 84.';
comment on column project.approved_date is 'Instant of approval; IATI start date.';
comment on column project.modified_date is 'Instant of the last change that the platform tells.';
comment on column project.deadline is 'Day on which the collection ends; IATI planned end date.';
comment on column project.location_precision is 'point publishes the coordinates; country publishes the country only, for projects that a place would endanger.';
comment on column project.source is 'Where the row came from; plain SQL writes local.';
comment on column project.glide_number is 'GLIDE number of the emergency that the project answers to; IATI humanitarian-scope.';
comment on column project.location_name is 'Populated place that the coordinates stand for.';
comment on column project.operator_state is 'The state that an operator has set with giving projects set; records that state another one do not change it. Null: records decide.';

create function keep_original_goal() returns trigger language plpgsql as $$
begin
  new.original_goal := new.goal;
  return new;
end $$;
create trigger keep_original_goal before insert or update on project for each row
  when (new.original_goal is null and new.goal is not null) execute function keep_original_goal();

create table project_country (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  country_code text not null references country (code),
  share numeric(7, 4) check (share > 0 and share <= 100),
  primary key (project_id, position),
  unique (project_id, country_code)
);
create index project_country_code on project_country (country_code, project_id);
comment on table project_country is 'Countries of a project.';
comment on column project_country.project_id is 'The project.';
comment on column project_country.position is 'Order, from 0; 0 is the main country.';
comment on column project_country.country_code is 'The country; a row of country.';
comment on column project_country.share is 'Share in per cent, at most four decimals; all or none of a project''s countries have one, and they add up to 100.';

create table project_theme (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  theme_id text not null references theme (id),
  primary key (project_id, position),
  unique (project_id, theme_id)
);
create index project_theme_id on project_theme (theme_id, project_id);
comment on table project_theme is 'Themes of a project.';
comment on column project_theme.project_id is 'The project.';
comment on column project_theme.position is 'Order, from 0; 0 is the main theme.';
comment on column project_theme.theme_id is 'The theme; a row of theme.';

create table project_sdg (
  project_id bigint not null references project (id) on delete cascade,
  code text not null check (code ~ '^[0-9]{1,2}([.][0-9]{1,2}|[.][a-d])?$'),
  primary key (project_id, code)
);
comment on table project_sdg is 'Sustainable Development Goals of a project; IATI tags.';
comment on column project_sdg.project_id is 'The project.';
comment on column project_sdg.code is 'Goal (6) or target (6.1).';

create table photo (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null check (position >= 0),
  wire_id bigint not null,
  title text,
  small_url text,
  thumbnail_url text,
  medium_url text,
  large_url text,
  extra_large_url text,
  original_url text,
  consent boolean not null default false,
  taken_on date,
  primary key (project_id, position)
);
comment on table photo is 'Pictures of a project; those with consent are published.';
comment on column photo.project_id is 'The project.';
comment on column photo.position is 'Order, from 0; 0 is the main picture.';
comment on column photo.wire_id is 'Identifier of the picture in the API; 0 for the main picture.';
comment on column photo.title is 'Title.';
comment on column photo.small_url is 'Smallest rendition, absolute address.';
comment on column photo.thumbnail_url is 'Thumbnail, absolute address.';
comment on column photo.medium_url is 'Medium rendition, absolute address.';
comment on column photo.large_url is 'Large rendition, absolute address.';
comment on column photo.extra_large_url is 'Extra large rendition, absolute address.';
comment on column photo.original_url is 'The picture as it was taken, absolute address.';
comment on column photo.consent is 'True: the people shown agreed to publication everywhere.';
comment on column photo.taken_on is 'Day on which it was taken.';

create table video (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  url text not null,
  primary key (project_id, position)
);
comment on table video is 'Videos of a project; API only.';
comment on column video.project_id is 'The project.';
comment on column video.position is 'Order, from 0.';
comment on column video.url is 'Absolute address.';

create table donation_option (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  amount numeric(18, 3) not null check (amount > 0),
  description text,
  primary key (project_id, position)
);
alter table donation_option add constraint option_amount_is_whole check (amount = trunc(amount)) not valid;
comment on table donation_option is 'What certain amounts do for a project; API only.';
comment on column donation_option.project_id is 'The project.';
comment on column donation_option.position is 'Order, from 0.';
comment on column donation_option.amount is 'Amount in the platform''s currency, a whole number.';
comment on column donation_option.description is 'What the amount does.';

create table progress_report (
  id bigint primary key check (id > 0),
  project_id bigint not null references project (id) on delete cascade,
  title text not null,
  author_name text,
  published_at timestamptz not null,
  updated_at timestamptz not null,
  content_html text not null,
  url text not null,
  source row_source not null default 'local',
  -- All that an Atom entry shows of a report but its pictures: an archive need not be read to know that it stayed.
  digest text not null generated always as (md5(
    title || chr(1) || coalesce(author_name, '') || chr(1) || url || chr(1) || content_html || chr(1)
      || extract(epoch from (published_at - timestamptz '1970-01-01 00:00:00+00'))::text || chr(1)
      || extract(epoch from (updated_at - timestamptz '1970-01-01 00:00:00+00'))::text
  )) stored
);
alter table progress_report add constraint report_has_title check (title <> '') not valid;
alter table progress_report add constraint report_has_web_address check (url ~ '^https?://') not valid;
alter table progress_report add constraint report_not_updated_before_published
  check (updated_at >= published_at) not valid;
create index progress_report_project on progress_report (project_id, published_at desc, id desc);
create index progress_report_recent on progress_report (published_at desc, id desc);
comment on table progress_report is 'Progress reports; each is an entry of the Atom feeds.';
comment on column progress_report.id is 'Identifier; permanent.';
comment on column progress_report.project_id is 'The project.';
comment on column progress_report.title is 'Title.';
comment on column progress_report.author_name is 'Author.';
comment on column progress_report.published_at is 'Instant of publication.';
comment on column progress_report.updated_at is 'Instant of the last change, not before published_at.';
comment on column progress_report.content_html is 'Text as HTML; what could run or restyle a page is removed before it is published.';
comment on column progress_report.url is 'Page of the report, absolute address; its permanent Atom id.';
comment on column progress_report.source is 'Where the row came from; plain SQL writes local.';

create table report_image (
  report_id bigint not null references progress_report (id) on delete cascade,
  position integer not null,
  url text not null,
  media_type text,
  primary key (report_id, position)
);
comment on table report_image is 'Pictures of a progress report.';
comment on column report_image.report_id is 'The report.';
comment on column report_image.position is 'Order, from 0.';
comment on column report_image.url is 'Absolute address.';
comment on column report_image.media_type is 'Media type, for example image/jpeg.';

-- Money by month, and what is paid out. Feeds read only these, never single donations; they are kept by the write that
-- moves money, never by scanning donations.

create table donation_month (
  project_id bigint not null references project (id) on delete cascade,
  month date not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  kind text not null check (kind in ('gift', 'refund', 'fee', 'opening')),
  source row_source not null default 'local',
  funder_id bigint references organisation (id),
  amount numeric(18, 3) not null,
  count integer not null check (count >= 0),
  last_on date not null,
  -- What of a month's figure single donations, refunds and fees are there for; the rest came as totals.
  itemised numeric(18, 3) not null default 0,
  unique nulls not distinct (project_id, month, currency, kind, source, funder_id),
  constraint month_holds_last_day check (last_on >= month and last_on < month + interval '1 month'),
  constraint month_is_first_of_month check (extract(day from month) = 1)
);
alter table donation_month add constraint month_amount_has_sign_of_its_kind
  check (case kind when 'refund' then amount <= 0 when 'fee' then true else amount >= 0 end) not valid;
create index donation_month_fee on donation_month (month) include (amount, currency) where kind = 'fee';
comment on table donation_month is 'Money of a project by month, without any donor: the only source of incoming IATI transactions.';
comment on column donation_month.project_id is 'The project.';
comment on column donation_month.month is 'First day of the month, UTC.';
comment on column donation_month.currency is 'ISO 4217; the platform''s one currency.';
comment on column donation_month.kind is 'gift, refund (negative), fee or opening (a total from before).';
comment on column donation_month.source is 'Where the row came from; plain SQL writes local.';
comment on column donation_month.funder_id is 'The organisation that gave; empty: the public.';
comment on column donation_month.amount is 'Sum of the month.';
comment on column donation_month.count is 'Number of gifts, refunds or fees in it.';
comment on column donation_month.last_on is 'Last day of the month on which money moved.';

create table disbursement (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id),
  reference text not null unique,
  disbursed_on date not null,
  amount numeric(18, 3) not null check (amount <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  receiver_id bigint references organisation (id),
  source row_source not null default 'local'
);
-- What the organisation file adds up by year.
create index disbursement_day on disbursement (disbursed_on) include (amount, currency);
create index disbursement_project on disbursement (project_id, disbursed_on, id);
comment on table disbursement is 'Payouts that were made; IATI disbursements.';
comment on column disbursement.project_id is 'The project.';
comment on column disbursement.reference is 'The platform''s reference; unique.';
comment on column disbursement.disbursed_on is 'Day of the payout.';
comment on column disbursement.amount is 'Amount; negative takes an earlier one back.';
comment on column disbursement.currency is 'ISO 4217; the platform''s one currency.';
comment on column disbursement.receiver_id is 'The organisation that was paid; empty: the project''s own.';
comment on column disbursement.source is 'Where the row came from; plain SQL writes local.';

create table payout_plan (
  reference text primary key check (reference <> ''),
  project_id bigint not null references project (id) on delete cascade,
  planned_on date not null,
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  source row_source not null default 'local'
);
create index payout_plan_day on payout_plan (planned_on);
create index payout_plan_project on payout_plan (project_id, planned_on, reference);
comment on table payout_plan is 'Payouts that are agreed on; IATI planned disbursements until a disbursement of the same reference is made.';
comment on column payout_plan.reference is 'The platform''s reference; unique.';
comment on column payout_plan.project_id is 'The project.';
comment on column payout_plan.planned_on is 'Day of the payout.';
comment on column payout_plan.amount is 'Amount.';
comment on column payout_plan.currency is 'ISO 4217; the platform''s one currency.';
comment on column payout_plan.source is 'Where the row came from; plain SQL writes local.';

create table imported_gift (
  reference_hash bytea primary key check (length(reference_hash) = 32),
  content_hash bytea not null check (length(content_hash) = 32),
  project_id bigint not null references project (id) on delete cascade
);
create index imported_gift_project on imported_gift (project_id);

create table imported_month (
  project_id bigint not null references project (id) on delete cascade,
  month date not null,
  kind text not null,
  funder_id bigint,
  origin text not null check (origin in ('references', 'sum')),
  -- The import that stated the sum: a second sum of the same month in one import would replace the first.
  import_id text,
  constraint imported_month_key unique nulls not distinct (project_id, month, kind, funder_id)
);

-- Accounts, keys and tokens.

create table account (
  id bigint generated always as identity primary key,
  email text not null,
  password_hash text not null,
  token_timeout_seconds integer not null default 36000 check (token_timeout_seconds > 0),
  created_at timestamptz not null,
  disabled_at timestamptz
);
create unique index account_email on account (lower(email));

-- What an account may do beyond reading.
create table account_grant (
  account_id bigint not null references account (id) on delete cascade,
  operation text not null check (operation in ('donations', 'donation-notes', 'partner-codes')),
  granted_at timestamptz not null,
  primary key (account_id, operation)
);

create table account_code (
  id bigint generated always as identity primary key,
  purpose text not null check (purpose in ('invitation', 'verification', 'reset')),
  code_hash bytea check (length(code_hash) = 32) unique,
  email text,
  password_hash text,
  invitation_id bigint references account_code (id) on delete cascade,
  expires_at timestamptz not null,
  mail_at timestamptz,
  tries integer not null default 0 check (tries >= 0),
  check (email is not null or purpose = 'invitation'),
  check ((password_hash is not null) = (purpose = 'verification'))
);
create index account_code_expiry on account_code (expires_at);
create index account_code_invitation on account_code (invitation_id) where invitation_id is not null;
create index account_code_mail on account_code (mail_at) where mail_at is not null;
comment on column account_code.code_hash is 'SHA-256 of the code, which is not stored; null until it is mailed.';
comment on column account_code.email is 'Whose it is; null: an invitation for anybody.';
comment on column account_code.password_hash is 'The password of an account that is made when the e-mail is verified.';
comment on column account_code.invitation_id is 'The invitation that the new account uses up.';
comment on column account_code.mail_at is 'When the code is mailed or mailed again; null: nothing is to be mailed.';

create table api_key (
  id bigint generated always as identity primary key,
  account_id bigint not null references account (id),
  key_hash bytea not null check (length(key_hash) = 32) unique,
  created_at timestamptz not null,
  revoked_at timestamptz,
  scope text not null default 'read donate' check (scope in ('read', 'donate', 'read donate')),
  origins text,
  expires_at timestamptz,
  last_used_at timestamptz,
  check (origins is null or origins <> '' and scope = 'read')
);
create index api_key_account on api_key (account_id);
comment on column api_key.scope is 'What the key may be used for: reads, donations (tokens and secure operations), or both.';
comment on column api_key.origins is 'The web origins whose pages may use the key, separated by blanks; null: any caller.';
comment on column api_key.expires_at is 'When the key ends; null: not before it is revoked.';
comment on column api_key.last_used_at is 'A time within the last five minutes of use.';

create table access_token (
  token_hash bytea primary key check (length(token_hash) = 32),
  api_key_id bigint not null references api_key (id),
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index access_token_expiry on access_token (expires_at);
create index access_token_key on access_token (api_key_id, issued_at desc);

-- Attempts counted per subject: SHA-256 of an account, an address, or both together, so that neither is kept as text.
create table attempt_count (
  subject bytea primary key check (length(subject) = 32),
  attempts integer not null,
  last_at timestamptz not null
);
create index attempt_count_age on attempt_count (last_at);

-- Where an account has signed in from: whoever fails elsewhere cannot keep its owner out.
create table sign_in_place (
  account_id bigint not null references account (id) on delete cascade,
  place bytea not null check (length(place) = 32),
  last_at timestamptz not null,
  primary key (account_id, place)
);

create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  action text not null,
  refused boolean not null,
  actor text not null,
  origin text not null,
  subject text,
  details jsonb not null
);
create index audit_event_time on audit_event (at);

-- Donations: intent, outcome, refunds; who gave, apart from what was given.

-- Numbers of receipts: unique and increasing; gaps are allowed, so no donation waits for another.
create sequence receipt_number_seq start 10001;
create sequence receipt_contribution_seq start 20001;

create table donation (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id),
  -- The organisation that gave; null for a person (who is never named anywhere near a feed).
  funder_id bigint references organisation (id),
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  settled_at timestamptz,
  source row_source not null,
  status text not null default 'settled' check (status in ('received', 'settled', 'declined', 'failed', 'refunded')),
  -- Our name for the payment at the gateway; null: came as a record of the past, not through a gateway.
  reference text unique,
  gateway text,
  -- The gateway's name for the charge.
  charge_id text,
  api_key_id bigint references api_key (id),
  -- `tx:` and the caller's transactionId, or `rq:` and the id of a request that had none.
  idempotency_key text,
  transaction_id text,
  refcode text,
  partner_code text,
  -- A tip to the platform, charged with the amount; no money of the project.
  addon numeric(18, 3) not null default 0 check (addon >= 0),
  -- The platform's share of the amount.
  fee numeric(18, 3) not null default 0 check (fee >= 0),
  newsletter_platform boolean not null default false,
  newsletter_charity boolean not null default false,
  received_at timestamptz,
  -- Until then a charge may be under way, or may still turn up at the gateway; by the database's clock.
  lease_until timestamptz,
  receipt_number text unique,
  -- The processor's published code and text of a declined payment.
  decline_code integer,
  decline_text text,
  -- What has been given back of the amount.
  refunded numeric(18, 3) not null default 0,
  check (refunded between 0 and amount),
  check (status not in ('settled', 'refunded') or settled_at is not null),
  check (status <> 'received' or reference is not null and lease_until is not null)
);
-- A donation that failed because its charge never turned up is looked up once more, later: its lease_until says when.
create index donation_failed on donation (lease_until) where status = 'failed' and lease_until is not null;
-- One donation a key. One that failed took no money, so its key is free again.
create unique index donation_idempotency on donation (api_key_id, idempotency_key)
  where idempotency_key is not null and status <> 'failed';
create index donation_open on donation (lease_until) where status = 'received';
create index donation_project on donation (project_id, settled_at);
-- Test donations are looked for at each start, and there are none where donations are real.
create index donation_test on donation (id) where gateway like '%sandbox';

-- Every transition of every donation, append-only; holds no personal data. The row of `settled` has the project's totals
-- after it, which is what the answer said.
create table donation_event (
  id bigint generated always as identity primary key,
  donation_id bigint not null references donation (id) on delete cascade,
  kind text not null check (kind in ('received', 'settled', 'declined', 'failed', 'refunded', 'confirmed', 'disputed')),
  at timestamptz not null,
  details jsonb not null default '{}'
);
create index donation_event_donation on donation_event (donation_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  -- What goes with the row it belongs to (removal of demo data) goes by a trigger of its foreign key.
  if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger append_only before update or delete on donation_event for each row execute function refuse_change();

-- Who gave: erased without a trace in any total. The hash of the request lives here because it is made of personal data;
-- its salt makes sure that nothing can be guessed from it.
create table donor (
  donation_id bigint primary key references donation (id) on delete cascade,
  email text,
  details jsonb,
  payload_salt bytea not null,
  payload_hash bytea not null,
  key_id text,
  wrapped_key bytea,
  sealed bytea,
  email_hash bytea,
  constraint donor_sealed_or_clear check (
    num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 4 and num_nonnulls(email, details) = 0
    or num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 0 and num_nonnulls(email, details) = 2)
);
create index donor_email on donor (lower(email)) where email is not null;
create index donor_email_hash on donor (email_hash);
comment on column donor.email is 'In clear, from before donors were encrypted; null in every other row.';
comment on column donor.details is 'In clear, from before donors were encrypted; null in every other row.';
comment on column donor.payload_hash is 'Hash of the request, keyed with the data key; in rows in clear without a key.';
comment on column donor.key_id is 'The key that wrapped_key is encrypted with.';
comment on column donor.wrapped_key is 'The data key of this row, encrypted and bound to the reference of the donation.';
comment on column donor.sealed is 'E-mail and details, encrypted with the data key and bound to the reference of the donation.';
comment on column donor.email_hash is 'Keyed hash of the e-mail in small letters, for looking a person up.';

-- Money given back: written before the gateway is asked, so that a refund is never lost and never made twice.
create table donation_refund (
  id bigint generated always as identity primary key,
  donation_id bigint not null references donation (id) on delete cascade,
  reference text not null unique,
  -- A chargeback has been taken by the processor already.
  kind text not null check (kind in ('refund', 'chargeback', 'failure')),
  amount numeric(18, 3) not null,
  -- What goes back of the tip; only with the whole donation.
  addon numeric(18, 3) not null default 0 check (addon >= 0),
  requested_at timestamptz not null,
  lease_until timestamptz not null,
  done_at timestamptz,
  constraint donation_refund_amount_check check (amount >= 0 and amount + addon > 0)
);
create index donation_refund_donation on donation_refund (donation_id);
create unique index donation_refund_open on donation_refund (donation_id) where done_at is null;

create table receipt_mail (
  donation_id bigint primary key references donation (id) on delete cascade,
  state text not null default 'due'
    check (state in ('due', 'sending', 'sent', 'refused', 'failed', 'unknown', 'dropped')),
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  sent_at timestamptz,
  reply integer
);
create index receipt_mail_due on receipt_mail (next_at, donation_id) where state = 'due';
create index receipt_mail_unsent on receipt_mail (state) where state <> 'sent';
comment on column receipt_mail.next_at is 'When a due receipt is tried; when a try began.';
comment on column receipt_mail.reply is 'The code of the last reply of the mail server that was not good.';

-- Payment processors: what they say of charges, and the sandbox's own books.

create table charge_state (
  donation_id bigint primary key references donation (id) on delete cascade,
  progress text not null check (progress in ('pending', 'settled', 'failed', 'voided')),
  dispute text check (dispute in ('open', 'won', 'lost')),
  difference text,
  accepted text,
  read_at timestamptz not null
);
create index charge_state_attention on charge_state (donation_id) where difference is not null or dispute = 'open';
comment on column charge_state.difference is 'What the books and the processor do not agree on; null: they agree.';
comment on column charge_state.accepted is 'The difference that an operator has dealt with.';

create table webhook_event (
  id bigint generated always as identity primary key,
  gateway text not null,
  event_id text not null,
  kind text not null,
  charge_id text,
  reference text,
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  state text not null check (state in ('due', 'done', 'ignored', 'failed')),
  outcome text,
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  unique (gateway, event_id),
  constraint webhook_event_has_charge check (state = 'ignored' or charge_id is not null)
);
create index webhook_event_charge on webhook_event (gateway, charge_id);
create index webhook_event_due on webhook_event (next_at, id) where state = 'due';
create index webhook_event_failed on webhook_event (id) where state = 'failed';
comment on column webhook_event.event_id is 'The id that the processor gives it in every delivery.';
comment on column webhook_event.outcome is 'How the charge was found when it was followed, or why the event is ignored or not handled yet.';
comment on column webhook_event.next_at is 'When a due event is handled next.';

create table processor_entry (
  gateway text not null,
  id text not null,
  kind text not null check (kind in ('charge', 'refund')),
  charge_id text not null,
  reference text,
  amount numeric(18, 3) not null,
  currency text not null,
  settled_at timestamptz not null,
  read_at timestamptz not null,
  primary key (gateway, id)
);
create index processor_entry_charge on processor_entry (charge_id);
create index processor_entry_reference on processor_entry (reference);
create index processor_entry_settled on processor_entry (gateway, settled_at);
comment on table processor_entry is 'Charges and refunds that a payment processor has settled, as it lists them; nothing of donors.';
comment on column processor_entry.id is 'The processor''s name for the charge or refund.';
comment on column processor_entry.charge_id is 'The processor''s name for the charge; of a refund: of the charge that it gives back.';
comment on column processor_entry.reference is 'Our name for the charge or refund, as the processor keeps it.';
comment on column processor_entry.settled_at is 'When money moved, by the processor''s clock; days are UTC days of it.';

create table reconciliation (
  gateway text not null,
  day date not null,
  currency text not null,
  processor_amount numeric(18, 3) not null,
  books_amount numeric(18, 3) not null,
  checked_at timestamptz not null,
  primary key (gateway, day, currency)
);
comment on column reconciliation.processor_amount is 'Charges less refunds that the processor settled on the day.';
comment on column reconciliation.books_amount is 'What the books have for these, and what they have for the day that the processor never settled.';
comment on column reconciliation.checked_at is 'When the day was last compared.';

create table reconciliation_difference (
  gateway text not null,
  day date not null,
  currency text not null,
  kind text not null check (kind in ('missing', 'doubled', 'changed', 'unknown')),
  entry text not null check (entry in ('charge', 'refund')),
  reference text,
  processor_id text,
  charge_id text,
  processor_amount text,
  books_amount text,
  difference numeric(18, 3) not null,
  donation_id bigint references donation (id) on delete cascade,
  accepted_at timestamptz
);
create index reconciliation_difference_day on reconciliation_difference (gateway, day);
create index reconciliation_difference_donation on reconciliation_difference (donation_id);
comment on column reconciliation_difference.kind is 'missing: the processor never settled it. doubled: settled twice. changed: another amount or currency. unknown: not in the books.';
comment on column reconciliation_difference.charge_id is 'The processor''s name for the charge concerned.';
comment on column reconciliation_difference.processor_amount is 'Amount and currency at the processor; null: it has none.';
comment on column reconciliation_difference.books_amount is 'Amount and currency in the books; null: they have none.';
comment on column reconciliation_difference.difference is 'By how much the two differ, without a sign.';
comment on column reconciliation_difference.accepted_at is 'When a person accepted it; null: it needs one.';

-- The books of the sandbox gateway: what a payment processor would keep on its side. No personal data.
create table sandbox_charge (
  id bigint generated always as identity primary key,
  reference text not null unique,
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null,
  -- null: approved.
  decline_code integer,
  charged_at timestamptz not null
);

create table sandbox_refund (
  id bigint generated always as identity primary key,
  reference text not null unique,
  charge_id bigint not null references sandbox_charge (id),
  amount numeric(18, 3) not null check (amount > 0),
  refunded_at timestamptz not null
);

-- Versions: what changed, and the texts and lists that are ready until then.

create sequence project_version_seq;

-- One row per project, for ever: its version moves with every write that a published text can depend on, whatever table
-- it happened in. `dirty` says that the rendering has not caught up; it is cleared only together with the version that
-- was rendered, so that a transaction committing late is never missed.
create table project_version (
  project_id bigint primary key references project (id) on delete cascade,
  version bigint not null,
  changed_at timestamptz not null,
  dirty boolean not null
);
create index project_version_changed on project_version (changed_at, project_id);
create index project_version_dirty on project_version (project_id) where dirty;

-- One row per organisation: its version moves with every write that its record can show, counts of projects included.
create table organisation_version (
  organisation_id bigint primary key references organisation (id) on delete cascade,
  version bigint not null,
  changed_at timestamptz not null,
  stated_at timestamptz
);
create index organisation_version_changed on organisation_version (changed_at, organisation_id);

-- Up to which instant a snapshot shows every change that there will ever be. A change bears the time at which it was
-- made, and becomes visible when its transaction commits: whoever asks for changes since an instant must not step over
-- the ones that were still on their way. The earliest start of a transaction that runs is such an instant. Null when a
-- transaction ended after the snapshot was taken, before it could be looked up here: then it is not known.
-- Volatile, so that `pg_current_snapshot()` in here is a new one, taken after the look.
create function changes_known_until(seen pg_snapshot) returns timestamptz language plpgsql volatile as $$
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
end $$;

-- The project's wire record as ready text (XML element, JSON object), valid while its version is the project's.
create table wire_record (
  project_id bigint primary key references project (id) on delete cascade,
  version bigint not null,
  xml text not null,
  json text not null,
  -- Wire records are texts made by a mapping; a newer mapping must not serve what an older one wrote.
  mapping integer not null,
  summary_xml text not null,
  summary_json text not null
);
alter table wire_record alter column xml set storage external;
alter table wire_record alter column json set storage external;
alter table wire_record alter column summary_xml set storage external;
alter table wire_record alter column summary_json set storage external;

-- The organisation's record as ready text, valid while its version is the organisation's and its mapping the program's.
create table organisation_record (
  organisation_id bigint primary key references organisation (id) on delete cascade,
  version bigint not null,
  mapping integer not null,
  xml text not null,
  json text not null
);
alter table organisation_record alter column xml set storage external;
alter table organisation_record alter column json set storage external;

-- Full text of active projects only: what search returns. Long texts are cut, since a tsvector has a limit.
create table project_search (
  project_id bigint primary key references project (id) on delete cascade,
  document tsvector not null
);
create index project_search_document on project_search using gin (document);

create table search_change (
  xid xid8 not null default pg_current_xact_id(),
  marked_at timestamptz not null default clock_timestamp(),
  project_id bigint
);
create unique index search_change_of_project on search_change (xid, project_id) nulls not distinct;

-- Candidates of the featured list, chosen once an hour for all processes; the list shows the first that are still active.
create table featured_hour (
  hour timestamptz primary key,
  project_ids bigint[] not null
);

-- The ledger of runs.

-- The schedule in force and since when: instants before that are none of its business, so a changed schedule neither
-- runs twice nor makes up for instants that it never had.
create table schedule (
  name text primary key,
  expression text not null,
  timezone text not null,
  adopted_at timestamptz not null,
  -- An operator has paused the schedule: its instants are left out until it is resumed.
  paused_at timestamptz
);

-- The ledger of publication runs: the memory that the queue is not. One row per due instant of a schedule.
create table run (
  id bigint generated always as identity primary key,
  trigger text not null check (trigger in ('schedule', 'start', 'manual', 'watchdog')),
  -- The schedule's name and the instant it was due at; null for a run that a person asked for.
  schedule text,
  due_at timestamptz,
  force boolean not null default false,
  state text not null default 'queued'
    check (state in ('queued', 'running', 'published', 'unchanged', 'held', 'failed')),
  -- Counts the times that the run was taken up. Work done for an older attempt is void: this number is the fence
  -- between a worker that was taken for dead and the one that took over.
  attempt integer not null default 0,
  -- What the running attempt does: many workers render shards, one of them publishes the release.
  stage text check (stage in ('render', 'publish')),
  -- Whoever holds the lease works on the run; a lease that has run out means that its owner is dead. On a queued run it
  -- says until when the queue is trusted to deliver it.
  lease_owner text,
  lease_until timestamptz,
  queued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  rendered integer not null default 0,
  changed integer not null default 0,
  held integer not null default 0,
  -- What the publishing worker last reported: {"stage": "assemble", "done": 10, "total": 20}.
  progress jsonb,
  release_id text,
  outcome jsonb,
  error_code text,
  error_message text,
  -- Seconds that the stages of the publishing attempt took: {"render": 1.5, "assemble": 0.8, "commit": 0.1}.
  timings jsonb,
  losses integer not null default 0,
  progress_at_loss bigint not null default 0,
  unique (schedule, due_at),
  check ((schedule is null) = (due_at is null))
);
-- One publication at a time, whatever the number of workers.
create unique index run_running on run (state) where state = 'running';
create index run_unfinished on run (id) where state in ('queued', 'running');

-- The shards of each attempt with what came of them: counts of a shard that is done twice are kept once.
create table run_shard (
  run_id bigint not null references run (id) on delete cascade,
  attempt integer not null,
  from_id bigint not null,
  to_id bigint not null,
  -- Share of the shard that is done, 0 to 100.
  percent integer not null default 0,
  rendered integer not null default 0,
  changed integer not null default 0,
  held integer not null default 0,
  primary key (run_id, attempt, from_id)
);

-- Runs by outcome whose rows were pruned: totals never go down.
create table pruned_run (
  state text primary key,
  count bigint not null,
  rendered bigint not null default 0,
  watchdog bigint not null default 0
);

-- Workers whose clock differs from the database's by more than a minute: they take no runs. A row is renewed while the
-- clock is wrong, and removed when it is right again.
create table wrong_clock (
  owner text primary key,
  skew_seconds bigint not null,
  seen_at timestamptz not null
);

-- Publication: what was rendered, what of it changed, what is published.

-- What was last mapped from each project. `text` is the last valid element; a held rendering keeps it.
create table rendering (
  project_id bigint primary key references project (id) on delete cascade,
  identifier text not null,
  verdict text not null check (verdict in ('valid', 'held')),
  text text,
  content_hash text,
  bytes integer not null default 0,
  -- When the content last changed: the activity's last-updated-datetime.
  last_updated_at timestamptz,
  -- Of the newest mapping, also when it is held: exact counts, and the first few findings, worst first.
  errors integer not null,
  warnings integer not null,
  infos integer not null,
  notice_counts jsonb not null,
  notices jsonb not null,
  input_key text not null,
  -- The first UTC day on which time alone changes the text; null: never.
  valid_until date,
  -- Money that the text reports, for the release guards: {"USD": {"in": "12.00", "out": "3.00"}}.
  money jsonb not null default '{}',
  -- The file that the activity is in, assigned once, for ever (iati.md 16.3); null until it is first assembled.
  segment integer check (segment > 0),
  run_id bigint references run (id),
  held_since timestamptz
);
alter table rendering alter column text set storage external;
create index rendering_held on rendering (project_id) where verdict = 'held';
create index rendering_segment on rendering (segment, project_id);
create index rendering_valid_until on rendering (valid_until, project_id) where valid_until is not null;

create table activity_rows (
  project_id bigint primary key references rendering (project_id) on delete cascade,
  content_hash text not null,
  version integer not null,
  counts integer[] not null,
  hashes bytea not null,
  csv bytea not null,
  parquet bytea not null
);
alter table activity_rows alter column csv set storage external;
alter table activity_rows alter column parquet set storage external;
comment on column activity_rows.content_hash is 'The content of the rendering that the rows were made from; rows of another one are made again.';
comment on column activity_rows.version is 'The version of the tables; rows of another one are made again.';
comment on column activity_rows.counts is 'How many rows each table has, in the order of the tables.';
comment on column activity_rows.hashes is 'Eight bytes for each table, by which a file whose rows are the same is known.';

-- The Atom feed of one project's reports, rendered with it; no row, no feed.
create table report_feed (
  project_id bigint primary key references project (id) on delete cascade,
  text text not null,
  content_hash text not null,
  entries integer not null,
  bytes integer not null,
  updated_at timestamptz not null,
  -- When the bytes last changed (Last-Modified).
  changed_at timestamptz not null
);
alter table report_feed alter column text set storage external;

-- The place of each report in the archives of the feed of all reports (RFC 5005): 1 to 100 are archive 1, and so on.
-- Given once, oldest first, in the order of arrival from then on. A removed report's place stays empty for ever, so that
-- no other report ever moves; hence without a reference to progress_report.
create table report_place (
  report_id bigint primary key,
  place bigint not null check (place > 0) unique
);

create table content_change (
  kind text not null check (kind in ('activities', 'records', 'organisations'))
);
comment on table content_change is 'Marks of changes since the content of this kind was last read to be published, a row for each statement, so that writers do not wait for each other.';

create table segment_change (
  segment integer not null
);
comment on table segment_change is 'Marks of segments whose renderings or rows changed since their summary, a row for each statement, so that writers do not wait for each other.';

create table segment_summary (
  segment integer primary key,
  version text not null,
  summary jsonb not null
);
comment on table segment_summary is 'What a release says of the activities of a segment; true where segment_change has no mark of the segment.';
comment on column segment_summary.version is 'How it was computed; another version of the program computes it again.';

-- Identifiers that have been published, append-only (iati.md 15.1): never deleted but by reset-demo.
-- A project's segment is assigned here once, for ever.
create table published_identifier (
  identifier text primary key,
  project_id bigint not null unique,
  segment integer not null check (segment > 0),
  first_release_id text not null,
  first_published_at timestamptz not null,
  -- Given up on purpose, by approving a release that lacks it: no release is held for its absence any more.
  withdrawn_at timestamptz
);
create index published_identifier_segment on published_identifier (segment, project_id);

create function refuse_deleting_published() returns trigger language plpgsql as $$
begin
  if exists (select from published_identifier where project_id = old.id and withdrawn_at is null) then
    raise exception 'project % is published and its identifier stays for ever: set active to false or status to retired', old.id
      using errcode = 'restrict_violation', table = 'project', constraint = 'published_project_stays';
  end if;
  return old;
end $$;
create trigger refuse_deleting_published before delete on project for each row when (old.source <> 'demo')
  execute function refuse_deleting_published();

create table release (
  id text primary key,
  run_id bigint not null references run (id),
  generated_at timestamptz not null,
  state text not null check (state in ('live', 'superseded', 'held')),
  manifest jsonb not null,
  -- Why a held release is held, for people.
  reason text
);
create unique index release_live on release (state) where state = 'live';

-- What happened to releases, in order, by machine and by hand. While the newest event is a rollback, that rollback stands:
-- `other_id` is the release that it took down.
create table release_event (
  id bigint generated always as identity primary key,
  release_id text not null,
  event text not null check (event in ('published', 'held', 'approved', 'rolled-back')),
  other_id text,
  at timestamptz not null
);
create index release_event_release on release_event (release_id, id);

-- The mirror of an upstream.

-- The ledger of syncs, with the rules of `run`: one row per due instant of a schedule, one running at a time, the attempt
-- as the fence between a worker that was taken for dead and the one that took over.
create table sync_run (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('full', 'incremental')),
  trigger text not null check (trigger in ('schedule', 'start', 'manual', 'watchdog')),
  schedule text,
  due_at timestamptz,
  -- The address that is mirrored; what an earlier run learnt of another address is of no use.
  upstream text not null,
  -- A person has accepted that the upstream offers much less than before.
  accept_loss boolean not null default false,
  -- `skipped`: due while one that does the same was still waiting.
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'held', 'failed', 'skipped')),
  attempt integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  queued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- Where the run goes on, written in the transaction of each page; null before the first and after the last.
  checkpoint jsonb,
  -- Up to when, by the upstream's own clock, its changes are mirrored once this run is done.
  mirrored_until timestamptz,
  requests integer not null default 0,
  pages integer not null default 0,
  records integer not null default 0,
  created integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  deactivated integer not null default 0,
  organisations integer not null default 0,
  galleries integer not null default 0,
  reports integer not null default 0,
  -- Why the run is held.
  reason text,
  error_code text,
  error_message text,
  losses integer not null default 0,
  progress_at_loss bigint not null default 0,
  unique (schedule, due_at),
  check ((schedule is null) = (due_at is null))
);
create unique index sync_run_running on sync_run (state) where state = 'running';
create index sync_run_unfinished on sync_run (id) where state in ('queued', 'running');

-- What a run refused or could not read: the first hundred findings; the run counts them all.
create table sync_notice (
  id bigint generated always as identity primary key,
  run_id bigint not null references sync_run (id) on delete cascade,
  subject text not null,
  field text not null,
  expected text not null,
  got text
);
create index sync_notice_run on sync_notice (run_id, id);

-- What upstream offers, mirrored or refused: hence without a reference to `project`.
create table upstream_project (
  project_id bigint primary key,
  -- The run that first saw it (again), and the last one that did.
  since_run_id bigint not null,
  seen_run_id bigint not null,
  -- False once a whole walk has not met it any more.
  present boolean not null default true,
  -- What the record said of gallery and reports when they were last fetched.
  gallery_key text,
  reports_key text
);

-- What was found out about an upstream by asking it.
create table upstream_trait (
  upstream text primary key,
  understands_modified_since boolean not null,
  detected_at timestamptz not null
);

-- Facts about this store as a whole: when it was seeded with demo data, which address it was published under.
create table store_fact (
  name text primary key,
  value text not null,
  recorded_at timestamptz not null
);
