import type { IsoDate } from '../domain/dates.js'
import type { CurrencyCode, Decimal } from '../domain/money.js'
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
} from '../domain/project.js'
import type { OrganisationRow, ThemeRow } from './organisation-graphs.js'
import { present } from './present.js'
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

export function toProject(row: ProjectRow): Project {
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
  const funder = toParty(row)
  return { month, currency, kind, source, amount, count, lastOn, ...(funder && { funder }) }
}

type DisbursementRow = PartyRow & {
  reference: string
  disbursed_on: IsoDate
  amount: Decimal
  currency: CurrencyCode
}

export function toDisbursement(row: DisbursementRow): Disbursement {
  const { reference, disbursed_on: disbursedOn, amount, currency } = row
  const receiver = toParty(row)
  return { reference, disbursedOn, amount, currency, ...(receiver && { receiver }) }
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
      ...(row.small_url && { small: row.small_url }),
      ...(row.thumbnail_url && { thumbnail: row.thumbnail_url }),
      ...(row.medium_url && { medium: row.medium_url }),
      ...(row.large_url && { large: row.large_url }),
      ...(row.extra_large_url && { extraLarge: row.extra_large_url }),
      ...(row.original_url && { original: row.original_url }),
    },
    consent: row.consent,
    ...(row.title && { title: row.title }),
    ...(row.taken_on && { takenOn: row.taken_on }),
  }
}
