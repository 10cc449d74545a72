import type { IsoDate } from '../../domain/dates.js'
import type { CurrencyCode, Decimal } from '../../domain/money.js'
import type {
  Country,
  Disbursement,
  DonationMonth,
  FunderOrganisation,
  MoneyKind,
  Photo,
  Project,
  ProjectStatus,
  RowSource,
} from '../../domain/project.js'
import type { OrganisationRow, ThemeRow } from './organisation-graphs.js'
import type { ReportRow } from './progress-reports.js'

/** A project's own columns. */
export type ProjectRow = {
  id: number
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
  date_of_most_recent_report: string | null
  image_link: string | null
  image_title: string | null
  image_gallery_size: number | null
  latitude: Decimal | null
  longitude: Decimal | null
  approved_date: string | null
  modified_date: string | null
  deadline: IsoDate | null
  glide_number: string | null
  location_name: string | null
  location_precision: 'point' | 'country'
  first_seen_on: IsoDate
  source: RowSource
}

/** The parts of a project as JSON: null where there are none. */
export type PartRows = {
  organisation: OrganisationRow | null
  countries: (Country & { share: Decimal | null })[] | null
  themes: ThemeRow[] | null
  months: MonthRow[] | null
  disbursements: DisbursementRow[] | null
  payout_plan: { reference: string; planned_on: IsoDate; amount: Decimal; currency: CurrencyCode }[] | null
  sdgs: { code: string }[] | null
  photos: PhotoRow[] | null
  videos: { url: string }[] | null
  donation_options: { amount: Decimal; description: string | null }[] | null
  reports: ReportRow[] | null
}

/** One shape for all: an object of many optional spreads is slow to make, and slower to read. */
export function toProject(row: ProjectRow): Project {
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
    summary: row.summary || undefined,
    need: row.need || undefined,
    longTermImpact: row.long_term_impact || undefined,
    activities: row.activities || undefined,
    notice: row.notice || undefined,
    additionalDocumentation: row.additional_documentation || undefined,
    contactName: row.contact_name || undefined,
    contactTitle: row.contact_title || undefined,
    contactAddress: row.contact_address || undefined,
    contactAddress2: row.contact_address2 || undefined,
    contactCity: row.contact_city || undefined,
    contactState: row.contact_state || undefined,
    contactPostal: row.contact_postal || undefined,
    contactCountry: row.contact_country || undefined,
    contactUrl: row.contact_url || undefined,
    projectLink: row.project_link || undefined,
    progressReportLink: row.progress_report_link || undefined,
    themeName: row.theme_name || undefined,
    countryName: row.country_name || undefined,
    countryCode: row.country_code || undefined,
    regionName: row.region_name || undefined,
    goal: row.goal || undefined,
    originalGoal: row.original_goal || undefined,
    remaining: row.remaining || undefined,
    numberOfReports: row.number_of_reports ?? undefined,
    dateOfMostRecentReport: instantOf(row.date_of_most_recent_report),
    imageLink: row.image_link || undefined,
    imageTitle: row.image_title || undefined,
    imageGallerySize: row.image_gallery_size ?? undefined,
    latitude: row.latitude || undefined,
    longitude: row.longitude || undefined,
    approvedDate: instantOf(row.approved_date),
    modifiedDate: instantOf(row.modified_date),
    deadline: row.deadline || undefined,
    glideNumber: row.glide_number || undefined,
    locationName: row.location_name || undefined,
  }
}

function instantOf(text: string | null): Date | undefined {
  return text === null ? undefined : new Date(text)
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
    ein: row.party_ein ?? undefined,
    orgRef: row.party_ref ?? undefined,
    orgType: row.party_type ?? undefined,
  }
}

type MonthRow = PartyRow & {
  month: IsoDate
  currency: CurrencyCode
  kind: MoneyKind
  source: RowSource
  amount: Decimal
  count: number
  last_on: IsoDate
}

export function toMonth(row: MonthRow): DonationMonth {
  const { month, currency, kind, source, amount, count, last_on: lastOn } = row
  return { month, currency, kind, source, amount, count, lastOn, funder: toParty(row) }
}

type DisbursementRow = PartyRow & {
  reference: string
  disbursed_on: IsoDate
  amount: Decimal
  currency: CurrencyCode
}

export function toDisbursement(row: DisbursementRow): Disbursement {
  const { reference, disbursed_on: disbursedOn, amount, currency } = row
  return { reference, disbursedOn, amount, currency, receiver: toParty(row) }
}

type PhotoRow = {
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

export function toPhoto(row: PhotoRow): Photo {
  return {
    position: row.position,
    wireId: row.wire_id,
    renditions: {
      small: row.small_url || undefined,
      thumbnail: row.thumbnail_url || undefined,
      medium: row.medium_url || undefined,
      large: row.large_url || undefined,
      extraLarge: row.extra_large_url || undefined,
      original: row.original_url || undefined,
    },
    consent: row.consent,
    title: row.title || undefined,
    takenOn: row.taken_on || undefined,
  }
}
