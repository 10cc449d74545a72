import type { IsoDate } from './dates.js'
import type { CurrencyCode, Decimal } from './money.js'

/** Where a row came from; decides who may change it (architecture 2.7). */
export type RowSource = 'local' | 'import' | 'upstream' | 'demo'

export type ProjectStatus = 'active' | 'funded' | 'retired'

export type Country = { readonly code: string; readonly name: string }

/** A country of a project; `share` in per cent, absent when no split is known. */
export type ProjectCountry = Country & { readonly share?: Decimal }

/** A theme; `sectorCode` is its OECD DAC 5-digit purpose code (IATI vocabulary 1). */
export type Theme = {
  readonly id: string
  readonly name: string
  readonly sectorCode?: string
  readonly humanitarian: boolean
}

export type Organisation = {
  readonly id: number
  readonly bridgeId?: string
  readonly name: string
  readonly ein?: string
  readonly addressLine1?: string
  readonly addressLine2?: string
  readonly city?: string
  readonly state?: string
  readonly postal?: string
  /** Country of the address. */
  readonly countryCode?: string
  readonly countryName?: string
  readonly url?: string
  readonly logoUrl?: string
  readonly mission?: string
  readonly totalProjects: number
  readonly activeProjects: number
  /** Its own IATI organisation identifier, where it has one. */
  readonly orgRef?: string
  /** Code of IATI OrganisationType. */
  readonly orgType?: string
  readonly themes: readonly Theme[]
  /** Where it works. */
  readonly countries: readonly Country[]
}

/** Six renditions of one picture; the order of the keys is the order of the wire format. */
export type PhotoRenditions = {
  readonly small?: string
  readonly thumbnail?: string
  readonly medium?: string
  readonly large?: string
  readonly extraLarge?: string
  readonly original?: string
}

/** A picture of the gallery; position 0 is the project's main image (wire id 0). */
export type Photo = {
  readonly position: number
  readonly wireId: number
  readonly title?: string
  readonly renditions: PhotoRenditions
  /** People shown have agreed to worldwide publication. */
  readonly consent: boolean
  readonly takenOn?: IsoDate
}

export type DonationOption = { readonly amount: Decimal; readonly description?: string }

/** gift: settled donations; refund: given back (negative); fee: kept by platform or card; opening: a total from before. */
export type MoneyKind = 'gift' | 'refund' | 'fee' | 'opening'

/** Money of one project, month, currency, kind, source and funder; kept by the write that moves money. */
export type DonationMonth = {
  readonly month: IsoDate
  readonly currency: CurrencyCode
  readonly kind: MoneyKind
  readonly source: RowSource
  readonly funder?: FunderOrganisation
  readonly amount: Decimal
  readonly count: number
  /** The last day of the month on which money moved. */
  readonly lastOn: IsoDate
}

/** An organisation as a party to a transaction. */
export type FunderOrganisation = {
  readonly id: number
  readonly name: string
  readonly ein?: string
  readonly orgRef?: string
  readonly orgType?: string
}

export type Disbursement = {
  readonly reference: string
  readonly disbursedOn: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
  /** Absent: paid to the project's own organisation. */
  readonly receiver?: FunderOrganisation
}

/** A payout that has been agreed on; a disbursement of the same reference fulfils it. */
export type PlannedPayout = {
  readonly reference: string
  readonly plannedOn: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
}

export type ReportImage = { readonly url: string; readonly mediaType?: string }

/** One progress report; `url` is the address of its page and its permanent Atom id. */
export type ProgressReport = {
  readonly id: number
  readonly projectId: number
  readonly title: string
  readonly authorName?: string
  readonly publishedAt: Date
  readonly updatedAt: Date
  readonly contentHtml: string
  readonly url: string
  readonly images: readonly ReportImage[]
}

export type Project = {
  readonly id: number
  readonly active: boolean
  readonly status: ProjectStatus
  /** The operator's own halt. */
  readonly paused: boolean
  readonly type: string
  readonly title: string
  readonly summary?: string
  readonly need?: string
  readonly longTermImpact?: string
  readonly activities?: string
  readonly notice?: string
  readonly additionalDocumentation?: string
  readonly contactName?: string
  readonly contactTitle?: string
  readonly contactAddress?: string
  readonly contactAddress2?: string
  readonly contactCity?: string
  readonly contactState?: string
  readonly contactPostal?: string
  readonly contactCountry?: string
  readonly contactUrl?: string
  readonly projectLink?: string
  readonly progressReportLink?: string
  readonly themeName?: string
  readonly countryName?: string
  readonly countryCode?: string
  readonly regionName?: string
  readonly goal?: Decimal
  /** The goal as it was when the store first saw one. */
  readonly originalGoal?: Decimal
  readonly funding: Decimal
  readonly remaining?: Decimal
  readonly numberOfDonations: number
  readonly numberOfReports?: number
  readonly dateOfMostRecentReport?: Date
  readonly imageLink?: string
  readonly imageTitle?: string
  readonly imageGallerySize?: number
  readonly latitude?: Decimal
  readonly longitude?: Decimal
  readonly approvedDate?: Date
  readonly modifiedDate?: Date
  readonly deadline?: IsoDate
  /** The emergency that the project answers to (glidenumber.net). */
  readonly glideNumber?: string
  /** The populated place that latitude and longitude stand for. */
  readonly locationName?: string
  readonly locationPrecision: 'point' | 'country'
  /** The UTC day this store first saw the project. */
  readonly firstSeenOn: IsoDate
  readonly source: RowSource
}

/** A project with everything that its published texts are made from; lists are in their stable order. */
export type ProjectGraph = {
  readonly project: Project
  readonly organisation?: Organisation
  readonly countries: readonly ProjectCountry[]
  readonly themes: readonly Theme[]
  /** By month, currency, kind, source, funder. */
  readonly months: readonly DonationMonth[]
  /** By day, then reference. */
  readonly disbursements: readonly Disbursement[]
  /** By day, then reference; fulfilled ones included. */
  readonly payoutPlan: readonly PlannedPayout[]
  /** Codes of the Sustainable Development Goals (`6`) and their targets (`6.1`), by code. */
  readonly sdgs: readonly string[]
  /** By position. */
  readonly photos: readonly Photo[]
  readonly videos: readonly string[]
  readonly donationOptions: readonly DonationOption[]
  /** Newest first. */
  readonly reports: readonly ProgressReport[]
  /** Moves with every change of any part. */
  readonly version: number
}
