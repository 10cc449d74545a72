import type { IsoDate } from '../domain/dates.js'
import type { CurrencyCode, Decimal } from '../domain/money.js'
import type {
  Country,
  Disbursement,
  DonationMonth,
  DonationOption,
  FunderOrganisation,
  MoneyKind,
  Organisation,
  Photo,
  PlannedPayout,
  ProgressReport,
  Project,
  ProjectCountry,
  ProjectGraph,
  ProjectStatus,
  ReportImage,
  RowSource,
  Theme,
} from '../domain/project.js'
import type { Db } from './connection.js'

/**
 * Everything that the published texts of these projects are made from, in the order of the ids given; unknown ids are
 * left out. One set-based query a table, whatever the number of projects; call it in a snapshot when the parts must agree.
 */
export async function projectGraphs(db: Db, ids: readonly number[]): Promise<ProjectGraph[]> {
  if (ids.length === 0) return []
  const projects = new Map((await selectProjects(db, ids)).map((row) => [row.id, row]))
  const organisationIds = [...new Set([...projects.values()].flatMap((row) => row.organisation_id ?? []))]
  const organisations = await selectOrganisations(db, organisationIds)
  const countries = await selectCountries(db, ids)
  const themes = await selectThemes(db, ids)
  const months = await selectMonths(db, ids)
  const disbursements = await selectDisbursements(db, ids)
  const payoutPlan = await selectPayoutPlan(db, ids)
  const sdgs = await selectSdgs(db, ids)
  const photos = await selectPhotos(db, ids)
  const videos = await selectVideos(db, ids)
  const donationOptions = await selectDonationOptions(db, ids)
  const reports = await selectReports(db, ids)
  return ids.flatMap((id) => {
    const row = projects.get(id)
    if (!row) return []
    const organisation = row.organisation_id === null ? undefined : organisations.get(row.organisation_id)
    return {
      project: toProject(row),
      ...(organisation && { organisation }),
      countries: countries.get(id) ?? [],
      themes: themes.get(id) ?? [],
      months: months.get(id) ?? [],
      disbursements: disbursements.get(id) ?? [],
      payoutPlan: payoutPlan.get(id) ?? [],
      sdgs: sdgs.get(id) ?? [],
      photos: photos.get(id) ?? [],
      videos: videos.get(id) ?? [],
      donationOptions: donationOptions.get(id) ?? [],
      reports: reports.get(id) ?? [],
      version: row.version,
    }
  })
}

/** Leaves out what is null: in the domain, absent is `undefined`, never null and never "". */
type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

function present<T extends object>(row: T): Present<T> {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(row)) if (value !== null) out[key] = value
  return out as Present<T>
}

function group<Row extends { project_id: number }, T>(rows: readonly Row[], toT: (row: Row) => T): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const row of rows) {
    const list = groups.get(row.project_id)
    if (list) list.push(toT(row))
    else groups.set(row.project_id, [toT(row)])
  }
  return groups
}

type ProjectRow = {
  id: number
  organisation_id: number | null
  version: number
  active: boolean
  status: ProjectStatus
  paused: boolean
  type: string
  title: string
  summary: string | null
  need: string | null
  long_term_impact: string | null
  activities: string | null
  notice: string | null
  additional_documentation: string | null
  contact_name: string | null
  contact_title: string | null
  contact_address: string | null
  contact_address2: string | null
  contact_city: string | null
  contact_state: string | null
  contact_postal: string | null
  contact_country: string | null
  contact_url: string | null
  project_link: string | null
  progress_report_link: string | null
  theme_name: string | null
  country_name: string | null
  country_code: string | null
  region_name: string | null
  goal: Decimal | null
  original_goal: Decimal | null
  funding: Decimal
  remaining: Decimal | null
  number_of_donations: number
  number_of_reports: number | null
  date_of_most_recent_report: Date | null
  image_link: string | null
  image_title: string | null
  image_gallery_size: number | null
  latitude: Decimal | null
  longitude: Decimal | null
  approved_date: Date | null
  modified_date: Date | null
  deadline: IsoDate | null
  glide_number: string | null
  location_name: string | null
  location_precision: 'point' | 'country'
  first_seen_on: IsoDate
  source: RowSource
}

async function selectProjects(db: Db, ids: readonly number[]): Promise<ProjectRow[]> {
  const { rows } = await db.query<ProjectRow>(
    `select p.id, p.organisation_id, v.version, p.active, p.status, p.paused, p.type, p.title, p.summary, p.need,
        p.long_term_impact, p.activities, p.notice, p.additional_documentation, p.contact_name, p.contact_title,
        p.contact_address, p.contact_address2, p.contact_city, p.contact_state, p.contact_postal, p.contact_country,
        p.contact_url, p.project_link, p.progress_report_link, p.theme_name, p.country_name, p.country_code,
        p.region_name, p.goal, p.original_goal, p.funding, p.remaining, p.number_of_donations, p.number_of_reports,
        p.date_of_most_recent_report, p.image_link, p.image_title, p.image_gallery_size, p.latitude, p.longitude,
        p.approved_date, p.modified_date, p.deadline, p.glide_number, p.location_name, p.location_precision,
        p.first_seen_on, p.source
      from project p join project_version v on v.project_id = p.id
      where p.id = any ($1::bigint[])`,
    [ids],
  )
  return rows
}

function toProject(row: ProjectRow): Project {
  const p = present(row)
  return {
    id: row.id,
    active: row.active,
    status: row.status,
    paused: row.paused,
    type: row.type,
    title: row.title,
    funding: row.funding,
    numberOfDonations: row.number_of_donations,
    locationPrecision: row.location_precision,
    firstSeenOn: row.first_seen_on,
    source: row.source,
    ...(p.summary && { summary: p.summary }),
    ...(p.need && { need: p.need }),
    ...(p.long_term_impact && { longTermImpact: p.long_term_impact }),
    ...(p.activities && { activities: p.activities }),
    ...(p.notice && { notice: p.notice }),
    ...(p.additional_documentation && { additionalDocumentation: p.additional_documentation }),
    ...(p.contact_name && { contactName: p.contact_name }),
    ...(p.contact_title && { contactTitle: p.contact_title }),
    ...(p.contact_address && { contactAddress: p.contact_address }),
    ...(p.contact_address2 && { contactAddress2: p.contact_address2 }),
    ...(p.contact_city && { contactCity: p.contact_city }),
    ...(p.contact_state && { contactState: p.contact_state }),
    ...(p.contact_postal && { contactPostal: p.contact_postal }),
    ...(p.contact_country && { contactCountry: p.contact_country }),
    ...(p.contact_url && { contactUrl: p.contact_url }),
    ...(p.project_link && { projectLink: p.project_link }),
    ...(p.progress_report_link && { progressReportLink: p.progress_report_link }),
    ...(p.theme_name && { themeName: p.theme_name }),
    ...(p.country_name && { countryName: p.country_name }),
    ...(p.country_code && { countryCode: p.country_code }),
    ...(p.region_name && { regionName: p.region_name }),
    ...(p.goal && { goal: p.goal }),
    ...(p.original_goal && { originalGoal: p.original_goal }),
    ...(p.remaining && { remaining: p.remaining }),
    ...(p.number_of_reports !== undefined && { numberOfReports: p.number_of_reports }),
    ...(p.date_of_most_recent_report && { dateOfMostRecentReport: p.date_of_most_recent_report }),
    ...(p.image_link && { imageLink: p.image_link }),
    ...(p.image_title && { imageTitle: p.image_title }),
    ...(p.image_gallery_size !== undefined && { imageGallerySize: p.image_gallery_size }),
    ...(p.latitude && { latitude: p.latitude }),
    ...(p.longitude && { longitude: p.longitude }),
    ...(p.approved_date && { approvedDate: p.approved_date }),
    ...(p.modified_date && { modifiedDate: p.modified_date }),
    ...(p.deadline && { deadline: p.deadline }),
    ...(p.glide_number && { glideNumber: p.glide_number }),
    ...(p.location_name && { locationName: p.location_name }),
  }
}

type OrganisationRow = {
  id: number
  bridge_id: string | null
  name: string
  ein: string | null
  address_line1: string | null
  address_line2: string | null
  city: string | null
  state: string | null
  postal: string | null
  country_code: string | null
  country_name: string | null
  url: string | null
  logo_url: string | null
  mission: string | null
  total_projects: number
  active_projects: number
  org_ref: string | null
  org_type: string | null
}

/** Organisations with the version that their records are of; unknown ids are left out. Call it in a snapshot. */
export async function organisationGraphs(
  db: Db,
  ids: readonly number[],
): Promise<{ readonly organisation: Organisation; readonly version: number }[]> {
  const { rows } = await db.query<{ id: number; version: number }>(
    'select organisation_id as id, version from organisation_version where organisation_id = any ($1::bigint[])',
    [ids],
  )
  const organisations = await selectOrganisations(db, ids)
  return rows.flatMap(({ id, version }) => {
    const organisation = organisations.get(id)
    return organisation ? { organisation, version } : []
  })
}

async function selectOrganisations(db: Db, ids: readonly number[]): Promise<Map<number, Organisation>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<OrganisationRow>(
    `select o.id, o.bridge_id::text as bridge_id, o.name, o.ein, o.address_line1, o.address_line2, o.city, o.state,
        o.postal, o.country_code, o.country_name, o.url, o.logo_url, o.mission, o.org_ref, o.org_type,
        coalesce(o.stated_total_projects, (select count(*)::integer from project p where p.organisation_id = o.id))
          as total_projects,
        coalesce(o.stated_active_projects,
          (select count(*)::integer from project p where p.organisation_id = o.id and p.active)) as active_projects
      from organisation o where o.id = any ($1::bigint[])`,
    [ids],
  )
  const themes = await db.query<ThemeRow & { organisation_id: number }>(
    `select organisation_id, id, name, sector_code, humanitarian
      from organisation_theme join theme on id = theme_id
      where organisation_id = any ($1::bigint[]) order by organisation_id, position`,
    [ids],
  )
  const countries = await db.query<Country & { organisation_id: number }>(
    `select organisation_id, code, name from organisation_country join country on code = country_code
      where organisation_id = any ($1::bigint[]) order by organisation_id, position`,
    [ids],
  )
  return new Map(
    rows.map((row) => [
      row.id,
      toOrganisation(
        row,
        themes.rows.filter((theme) => theme.organisation_id === row.id).map(toTheme),
        countries.rows.filter((country) => country.organisation_id === row.id).map(toCountry),
      ),
    ]),
  )
}

function toOrganisation(row: OrganisationRow, themes: Theme[], countries: Country[]): Organisation {
  const p = present(row)
  return {
    id: row.id,
    name: row.name,
    totalProjects: row.total_projects,
    activeProjects: row.active_projects,
    themes,
    countries,
    ...(p.bridge_id && { bridgeId: p.bridge_id }),
    ...(p.ein && { ein: p.ein }),
    ...(p.address_line1 && { addressLine1: p.address_line1 }),
    ...(p.address_line2 && { addressLine2: p.address_line2 }),
    ...(p.city && { city: p.city }),
    ...(p.state && { state: p.state }),
    ...(p.postal && { postal: p.postal }),
    ...(p.country_code && { countryCode: p.country_code }),
    ...(p.country_name && { countryName: p.country_name }),
    ...(p.url && { url: p.url }),
    ...(p.logo_url && { logoUrl: p.logo_url }),
    ...(p.mission && { mission: p.mission }),
    ...(p.org_ref && { orgRef: p.org_ref }),
    ...(p.org_type && { orgType: p.org_type }),
  }
}

function toCountry(row: Country): Country {
  return { code: row.code, name: row.name }
}

type CountryRow = { project_id: number; code: string; name: string; share: Decimal | null }

async function selectCountries(db: Db, ids: readonly number[]): Promise<Map<number, ProjectCountry[]>> {
  const { rows } = await db.query<CountryRow>(
    `select project_id, code, name, share from project_country join country on code = country_code
      where project_id = any ($1::bigint[]) order by project_id, position`,
    [ids],
  )
  return group(rows, (row) => ({ ...toCountry(row), ...(row.share !== null && { share: row.share }) }))
}

type ThemeRow = { id: string; name: string; sector_code: string | null; humanitarian: boolean }

function toTheme(row: ThemeRow): Theme {
  return {
    id: row.id,
    name: row.name,
    humanitarian: row.humanitarian,
    ...(row.sector_code !== null && { sectorCode: row.sector_code }),
  }
}

async function selectThemes(db: Db, ids: readonly number[]): Promise<Map<number, Theme[]>> {
  const { rows } = await db.query<ThemeRow & { project_id: number }>(
    `select project_id, id, name, sector_code, humanitarian from project_theme join theme on id = theme_id
      where project_id = any ($1::bigint[]) order by project_id, position`,
    [ids],
  )
  return group(rows, toTheme)
}

type PartyRow = {
  party_id: number | null
  party_name: string | null
  party_ein: string | null
  party_ref: string | null
  party_type: string | null
}

function toParty(row: PartyRow): FunderOrganisation | undefined {
  if (row.party_id === null || row.party_name === null) return undefined
  return {
    id: row.party_id,
    name: row.party_name,
    ...(row.party_ein !== null && { ein: row.party_ein }),
    ...(row.party_ref !== null && { orgRef: row.party_ref }),
    ...(row.party_type !== null && { orgType: row.party_type }),
  }
}

type MonthRow = PartyRow & {
  project_id: number
  month: IsoDate
  currency: CurrencyCode
  kind: MoneyKind
  source: RowSource
  amount: Decimal
  count: number
  last_on: IsoDate
}

async function selectMonths(db: Db, ids: readonly number[]): Promise<Map<number, DonationMonth[]>> {
  const { rows } = await db.query<MonthRow>(
    `select m.project_id, m.month, m.currency, m.kind, m.source, m.amount, m.count, m.last_on,
        o.id as party_id, o.name as party_name, o.ein as party_ein, o.org_ref as party_ref,
        o.org_type as party_type
      from donation_month m left join organisation o on o.id = m.funder_id
      where m.project_id = any ($1::bigint[])
      order by m.project_id, m.month, m.currency collate "C", m.kind collate "C", m.source collate "C",
        m.funder_id nulls first`,
    [ids],
  )
  return group(rows, (row) => {
    const funder = toParty(row)
    return {
      month: row.month,
      currency: row.currency,
      kind: row.kind,
      source: row.source,
      amount: row.amount,
      count: row.count,
      lastOn: row.last_on,
      ...(funder && { funder }),
    }
  })
}

type DisbursementRow = PartyRow & {
  project_id: number
  reference: string
  disbursed_on: IsoDate
  amount: Decimal
  currency: CurrencyCode
}

async function selectDisbursements(db: Db, ids: readonly number[]): Promise<Map<number, Disbursement[]>> {
  const { rows } = await db.query<DisbursementRow>(
    `select d.project_id, d.reference, d.disbursed_on, d.amount, d.currency,
        o.id as party_id, o.name as party_name, o.ein as party_ein, o.org_ref as party_ref,
        o.org_type as party_type
      from disbursement d left join organisation o on o.id = d.receiver_id
      where d.project_id = any ($1::bigint[])
      order by d.project_id, d.disbursed_on, d.reference collate "C"`,
    [ids],
  )
  return group(rows, (row) => {
    const receiver = toParty(row)
    return {
      reference: row.reference,
      disbursedOn: row.disbursed_on,
      amount: row.amount,
      currency: row.currency,
      ...(receiver && { receiver }),
    }
  })
}

type PayoutPlanRow = {
  project_id: number
  reference: string
  planned_on: IsoDate
  amount: Decimal
  currency: CurrencyCode
}

async function selectPayoutPlan(db: Db, ids: readonly number[]): Promise<Map<number, PlannedPayout[]>> {
  const { rows } = await db.query<PayoutPlanRow>(
    `select project_id, reference, planned_on, amount, currency from payout_plan
      where project_id = any ($1::bigint[]) order by project_id, planned_on, reference collate "C"`,
    [ids],
  )
  return group(rows, ({ reference, planned_on: plannedOn, amount, currency }) => ({
    reference,
    plannedOn,
    amount,
    currency,
  }))
}

async function selectSdgs(db: Db, ids: readonly number[]): Promise<Map<number, string[]>> {
  const { rows } = await db.query<{ project_id: number; code: string }>(
    `select project_id, code from project_sdg where project_id = any ($1::bigint[]) order by project_id, code collate "C"`,
    [ids],
  )
  return group(rows, (row) => row.code)
}

type PhotoRow = {
  project_id: number
  position: number
  wire_id: number
  title: string | null
  small_url: string | null
  thumbnail_url: string | null
  medium_url: string | null
  large_url: string | null
  extra_large_url: string | null
  original_url: string | null
  consent: boolean
  taken_on: IsoDate | null
}

async function selectPhotos(db: Db, ids: readonly number[]): Promise<Map<number, Photo[]>> {
  const { rows } = await db.query<PhotoRow>(
    `select project_id, position, wire_id, title, small_url, thumbnail_url, medium_url, large_url, extra_large_url,
        original_url, consent, taken_on
      from photo where project_id = any ($1::bigint[]) order by project_id, position`,
    [ids],
  )
  return group(rows, (row) => {
    const p = present(row)
    return {
      position: row.position,
      wireId: row.wire_id,
      renditions: {
        ...(p.small_url && { small: p.small_url }),
        ...(p.thumbnail_url && { thumbnail: p.thumbnail_url }),
        ...(p.medium_url && { medium: p.medium_url }),
        ...(p.large_url && { large: p.large_url }),
        ...(p.extra_large_url && { extraLarge: p.extra_large_url }),
        ...(p.original_url && { original: p.original_url }),
      },
      consent: row.consent,
      ...(p.title && { title: p.title }),
      ...(p.taken_on && { takenOn: p.taken_on }),
    }
  })
}

async function selectVideos(db: Db, ids: readonly number[]): Promise<Map<number, string[]>> {
  const { rows } = await db.query<{ project_id: number; url: string }>(
    'select project_id, url from video where project_id = any ($1::bigint[]) order by project_id, position',
    [ids],
  )
  return group(rows, (row) => row.url)
}

type DonationOptionRow = { project_id: number; amount: Decimal; description: string | null }

async function selectDonationOptions(db: Db, ids: readonly number[]): Promise<Map<number, DonationOption[]>> {
  const { rows } = await db.query<DonationOptionRow>(
    `select project_id, amount, description from donation_option
      where project_id = any ($1::bigint[]) order by project_id, position`,
    [ids],
  )
  return group(rows, (row) => ({
    amount: row.amount,
    ...(row.description !== null && { description: row.description }),
  }))
}

type ReportRow = {
  id: number
  project_id: number
  title: string
  author_name: string | null
  published_at: Date
  updated_at: Date
  content_html: string
  url: string
}

async function selectReports(db: Db, ids: readonly number[]): Promise<Map<number, ProgressReport[]>> {
  const { rows } = await db.query<ReportRow>(
    `select id, project_id, title, author_name, published_at, updated_at, content_html, url
      from progress_report where project_id = any ($1::bigint[])
      order by project_id, published_at desc, id desc`,
    [ids],
  )
  const images = await reportImages(
    db,
    rows.map((row) => row.id),
  )
  return group(rows, (row) => toReport(row, images))
}

/** These reports with their pictures, newest first; unknown ids are left out. */
export async function reportsByIds(db: Db, ids: readonly number[]): Promise<ProgressReport[]> {
  const { rows } = await db.query<ReportRow>(
    `select id, project_id, title, author_name, published_at, updated_at, content_html, url
      from progress_report where id = any ($1::bigint[]) order by published_at desc, id desc`,
    [ids],
  )
  const images = await reportImages(
    db,
    rows.map((row) => row.id),
  )
  return rows.map((row) => toReport(row, images))
}

async function reportImages(db: Db, reportIds: readonly number[]): Promise<Map<number, ReportImage[]>> {
  if (reportIds.length === 0) return new Map()
  const { rows } = await db.query<{ project_id: number; url: string; media_type: string | null }>(
    `select report_id as project_id, url, media_type from report_image
      where report_id = any ($1::bigint[]) order by report_id, position`,
    [reportIds],
  )
  return group(rows, (row) => ({ url: row.url, ...(row.media_type !== null && { mediaType: row.media_type }) }))
}

function toReport(row: ReportRow, images: ReadonlyMap<number, ReportImage[]>): ProgressReport {
  return {
    id: row.id,
    projectId: row.project_id,
    title: row.title,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    contentHtml: row.content_html,
    url: row.url,
    images: images.get(row.id) ?? [],
    ...(row.author_name !== null && { authorName: row.author_name }),
  }
}
