-- compatible
-- A platform whose own tables live in this database writes its rows with plain SQL, as a role that may write the
-- operator's columns and nothing else (giving migrate --writer-role). Its inserts need no bookkeeping: the source has a
-- default, and the triggers that mark projects as changed run with the rights of their owner.

alter table project alter column source set default 'local';
alter table organisation alter column source set default 'local';
alter table progress_report alter column source set default 'local';
alter table donation_month alter column source set default 'local';
alter table disbursement alter column source set default 'local';
alter table payout_plan alter column source set default 'local';

do $$
declare
  name text;
begin
  for name in
    select distinct p.proname from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and p.pronamespace = current_schema()::regnamespace
      and p.proname ~ '^(mark|move|search)_'
  loop
    execute format('alter function %I() security definer set search_path = %I, pg_temp', name, current_schema());
  end loop;
end $$;

-- What the mapping could not use is refused at the door. "not valid": rows that exist already stay as they are.
alter table country add constraint country_has_name check (name <> '') not valid;
alter table theme add constraint theme_has_name check (name <> '') not valid;
alter table organisation add constraint organisation_has_name check (name <> '') not valid;
alter table progress_report add constraint report_has_title check (title <> '') not valid;
alter table progress_report add constraint report_has_web_address check (url ~ '^https?://') not valid;
alter table progress_report add constraint report_not_updated_before_published
  check (updated_at >= published_at) not valid;
alter table donation_month add constraint month_amount_has_sign_of_its_kind
  check (case kind when 'refund' then amount <= 0 when 'fee' then true else amount >= 0 end) not valid;
alter table donation_month rename constraint donation_month_check to month_holds_last_day;
alter table donation_month rename constraint donation_month_month_check to month_is_first_of_month;

create function refuse_deleting_published() returns trigger language plpgsql as $$
begin
  if exists (select from published_identifier where project_id = old.id and withdrawn_at is null) then
    raise exception 'project % is published and its identifier stays for ever: set active to false or status to retired', old.id
      using errcode = 'restrict_violation', table = 'project', constraint = 'published_project_stays';
  end if;
  return old;
end $$;
alter function refuse_deleting_published() security definer set search_path from current;
create trigger refuse_deleting_published before delete on project for each row when (old.source <> 'demo')
  execute function refuse_deleting_published();

comment on table country is 'Countries that projects and organisations name. A row must exist before another names its code.';
comment on column country.code is 'ISO 3166-1 alpha-2, capital letters.';
comment on column country.name is 'English name, as the API answers it.';
comment on column country.region_name is 'Region of the API that the country belongs to; a row of region.';

comment on table region is 'Regions of the API.';
comment on column region.name is 'The name, which is also the key.';

comment on table theme is 'Themes that projects and organisations belong to.';
comment on column theme.id is 'Key of the theme in addresses of the API, for example edu.';
comment on column theme.name is 'Name, as the API and IATI narratives show it.';
comment on column theme.sector_code is 'OECD DAC purpose code of five digits (IATI vocabulary 1); without it the theme is published in the platform''s own vocabulary only.';
comment on column theme.humanitarian is 'True marks activities of this theme as humanitarian in IATI.';

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

comment on table organisation_country is 'Countries an organisation works in.';
comment on column organisation_country.organisation_id is 'The organisation.';
comment on column organisation_country.position is 'Order, from 0.';
comment on column organisation_country.country_code is 'The country; a row of country.';
comment on table organisation_theme is 'Themes an organisation works on.';
comment on column organisation_theme.organisation_id is 'The organisation.';
comment on column organisation_theme.position is 'Order, from 0.';
comment on column organisation_theme.theme_id is 'The theme; a row of theme.';

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

comment on table project_country is 'Countries of a project.';
comment on column project_country.project_id is 'The project.';
comment on column project_country.position is 'Order, from 0; 0 is the main country.';
comment on column project_country.country_code is 'The country; a row of country.';
comment on column project_country.share is 'Share in per cent, at most four decimals; all or none of a project''s countries have one, and they add up to 100.';
comment on table project_theme is 'Themes of a project.';
comment on column project_theme.project_id is 'The project.';
comment on column project_theme.position is 'Order, from 0; 0 is the main theme.';
comment on column project_theme.theme_id is 'The theme; a row of theme.';
comment on table project_sdg is 'Sustainable Development Goals of a project; IATI tags.';
comment on column project_sdg.project_id is 'The project.';
comment on column project_sdg.code is 'Goal (6) or target (6.1).';

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
comment on table video is 'Videos of a project; API only.';
comment on column video.project_id is 'The project.';
comment on column video.position is 'Order, from 0.';
comment on column video.url is 'Absolute address.';
comment on table donation_option is 'What certain amounts do for a project; API only.';
comment on column donation_option.project_id is 'The project.';
comment on column donation_option.position is 'Order, from 0.';
comment on column donation_option.amount is 'Amount in the platform''s currency.';
comment on column donation_option.description is 'What the amount does.';

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
comment on table report_image is 'Pictures of a progress report.';
comment on column report_image.report_id is 'The report.';
comment on column report_image.position is 'Order, from 0.';
comment on column report_image.url is 'Absolute address.';
comment on column report_image.media_type is 'Media type, for example image/jpeg.';

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
comment on table disbursement is 'Payouts that were made; IATI disbursements.';
comment on column disbursement.project_id is 'The project.';
comment on column disbursement.reference is 'The platform''s reference; unique.';
comment on column disbursement.disbursed_on is 'Day of the payout.';
comment on column disbursement.amount is 'Amount; negative takes an earlier one back.';
comment on column disbursement.currency is 'ISO 4217; the platform''s one currency.';
comment on column disbursement.receiver_id is 'The organisation that was paid; empty: the project''s own.';
comment on column disbursement.source is 'Where the row came from; plain SQL writes local.';
comment on table payout_plan is 'Payouts that are agreed on; IATI planned disbursements until a disbursement of the same reference is made.';
comment on column payout_plan.reference is 'The platform''s reference; unique.';
comment on column payout_plan.project_id is 'The project.';
comment on column payout_plan.planned_on is 'Day of the payout.';
comment on column payout_plan.amount is 'Amount.';
comment on column payout_plan.currency is 'ISO 4217; the platform''s one currency.';
comment on column payout_plan.source is 'Where the row came from; plain SQL writes local.';
