-- The catalogue: organisations, projects and all that belongs to them, their money by month, their reports.
-- Every row knows its source; every write to it marks the projects whose published text it may change.

create domain row_source as text check (value in ('local', 'import', 'upstream', 'demo'));

create table region (
  name text primary key
);

create table country (
  code text primary key check (code ~ '^[A-Z]{2}$'),
  name text not null,
  region_name text references region (name)
);

create table theme (
  id text primary key check (id <> ''),
  name text not null,
  -- OECD DAC 5-digit purpose code (IATI vocabulary 1); null is reported as 99810, sectors not specified.
  sector_code text check (sector_code ~ '^[0-9]{5}$'),
  humanitarian boolean not null default false
);

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
  -- What the source says of its whole catalogue, which may be larger than what is stored here; null: count ours.
  stated_total_projects integer check (stated_total_projects >= 0),
  stated_active_projects integer check (stated_active_projects >= 0),
  -- The organisation's own IATI identifier, as its registration agency prints it; never invented.
  org_ref text,
  org_type text check (org_type ~ '^[0-9]{2}$'),
  source row_source not null,
  unknown_fields jsonb
);
create index organisation_bridge on organisation (bridge_id) where bridge_id is not null;

create table organisation_theme (
  organisation_id bigint not null references organisation (id) on delete cascade,
  position integer not null,
  theme_id text not null references theme (id),
  primary key (organisation_id, position)
);

create table organisation_country (
  organisation_id bigint not null references organisation (id) on delete cascade,
  position integer not null,
  country_code text not null references country (code),
  primary key (organisation_id, position)
);

create table project (
  id bigint primary key check (id > 0),
  organisation_id bigint references organisation (id),
  active boolean not null,
  status text not null check (status in ('active', 'funded', 'retired')),
  -- The operator's own halt (IATI activity status 6), independent of what the source says.
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
  -- Names as the source wrote them; the codes are in project_theme and project_country, primary first.
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
  -- Without a scale: what the source says is served back digit by digit.
  latitude numeric check (latitude between -90 and 90),
  longitude numeric check (longitude between -180 and 180),
  approved_date timestamptz,
  modified_date timestamptz,
  deadline date,
  -- Who may know where it is: `country` publishes the country only (people at risk).
  location_precision text not null default 'point' check (location_precision in ('point', 'country')),
  source row_source not null,
  -- The UTC day this store first saw the project; the last resort where the source gives no date at all.
  first_seen_on date not null default (now() at time zone 'UTC')::date,
  -- Hash of the source record as last written, so that an unchanged record is told without comparing fields.
  source_hash text,
  unknown_fields jsonb
);
create index project_organisation on project (organisation_id, id);
create index project_active on project (id) where active;

create table project_country (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  country_code text not null references country (code),
  -- Share of the activity in per cent; null means that no split is known (equal shares are published).
  share numeric(7, 4) check (share > 0 and share <= 100),
  primary key (project_id, position),
  unique (project_id, country_code)
);
create index project_country_code on project_country (country_code, project_id);

create table project_theme (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  theme_id text not null references theme (id),
  primary key (project_id, position),
  unique (project_id, theme_id)
);
create index project_theme_id on project_theme (theme_id, project_id);

-- Position 0 is the main image (wire id 0); the six renditions are always offered in the order of these columns.
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
  -- People shown have agreed to worldwide publication; without it the photo stays out of the feeds.
  consent boolean not null default false,
  taken_on date,
  primary key (project_id, position)
);

create table video (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  url text not null,
  primary key (project_id, position)
);

create table donation_option (
  project_id bigint not null references project (id) on delete cascade,
  position integer not null,
  amount numeric(18, 3) not null check (amount > 0),
  description text,
  primary key (project_id, position)
);

create table progress_report (
  id bigint primary key check (id > 0),
  project_id bigint not null references project (id) on delete cascade,
  title text not null,
  author_name text,
  published_at timestamptz not null,
  updated_at timestamptz not null,
  content_html text not null,
  -- Address of the report's page; it is the Atom entry's id and never changes.
  url text not null,
  source row_source not null
);
create index progress_report_project on progress_report (project_id, published_at desc, id desc);
create index progress_report_recent on progress_report (published_at desc, id desc);

create table report_image (
  report_id bigint not null references progress_report (id) on delete cascade,
  position integer not null,
  url text not null,
  media_type text,
  primary key (report_id, position)
);
