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
  readonly bridgeId?: string | undefined
  readonly name: string
  readonly ein?: string | undefined
  readonly addressLine1?: string | undefined
  readonly addressLine2?: string | undefined
  readonly city?: string | undefined
  readonly state?: string | undefined
  readonly postal?: string | undefined
  /** Country of the address. */
  readonly countryCode?: string | undefined
  readonly countryName?: string | undefined
  readonly url?: string | undefined
  readonly logoUrl?: string | undefined
  readonly mission?: string | undefined
  readonly totalProjects: number
  readonly activeProjects: number
  /** Its own IATI organisation identifier, where it has one. */
  readonly orgRef?: string | undefined
  /** Code of IATI OrganisationType. */
  readonly orgType?: string | undefined
  readonly themes: readonly Theme[]
  /** Where it works. */
  readonly countries: readonly Country[]
}

/** Six renditions of one picture; the order of the keys is the order of the wire format. */
export type PhotoRenditions = {
  readonly small?: string | undefined
  readonly thumbnail?: string | undefined
  readonly medium?: string | undefined
  readonly large?: string | undefined
  readonly extraLarge?: string | undefined
  readonly original?: string | undefined
}

/** A picture of the gallery; position 0 is the project's main image (wire id 0). */
export type Photo = {
  readonly position: number
  readonly wireId: number
  readonly title?: string | undefined
  readonly renditions: PhotoRenditions
  /** People shown have agreed to worldwide publication. */
  readonly consent: boolean
  readonly takenOn?: IsoDate | undefined
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
  readonly funder?: FunderOrganisation | undefined
  readonly amount: Decimal
  readonly count: number
  /** The last day of the month on which money moved. */
  readonly lastOn: IsoDate
}

/** An organisation as a party to a transaction. */
export type FunderOrganisation = {
  readonly id: number
  readonly name: string
  readonly ein?: string | undefined
  readonly orgRef?: string | undefined
  readonly orgType?: string | undefined
}

export type Disbursement = {
  readonly reference: string
  readonly disbursedOn: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
  /** Absent: paid to the project's own organisation. */
  readonly receiver?: FunderOrganisation | undefined
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
  readonly summary?: string | undefined
  readonly need?: string | undefined
  readonly longTermImpact?: string | undefined
  readonly activities?: string | undefined
  readonly notice?: string | undefined
  readonly additionalDocumentation?: string | undefined
  readonly contactName?: string | undefined
  readonly contactTitle?: string | undefined
  readonly contactAddress?: string | undefined
  readonly contactAddress2?: string | undefined
  readonly contactCity?: string | undefined
  readonly contactState?: string | undefined
  readonly contactPostal?: string | undefined
  readonly contactCountry?: string | undefined
  readonly contactUrl?: string | undefined
  readonly projectLink?: string | undefined
  readonly progressReportLink?: string | undefined
  readonly themeName?: string | undefined
  readonly countryName?: string | undefined
  readonly countryCode?: string | undefined
  readonly regionName?: string | undefined
  readonly goal?: Decimal | undefined
  /** The goal as it was when the store first saw one. */
  readonly originalGoal?: Decimal | undefined
  readonly funding: Decimal
  readonly remaining?: Decimal | undefined
  readonly numberOfDonations: number
  readonly numberOfReports?: number | undefined
  readonly dateOfMostRecentReport?: Date | undefined
  readonly imageLink?: string | undefined
  readonly imageTitle?: string | undefined
  readonly imageGallerySize?: number | undefined
  readonly latitude?: Decimal | undefined
  readonly longitude?: Decimal | undefined
  readonly approvedDate?: Date | undefined
  readonly modifiedDate?: Date | undefined
  readonly deadline?: IsoDate | undefined
  /** The emergency that the project answers to (glidenumber.net). */
  readonly glideNumber?: string | undefined
  /** The populated place that latitude and longitude stand for. */
  readonly locationName?: string | undefined
  readonly locationPrecision: 'point' | 'country'
  /** The UTC day this store first saw the project. */
  readonly firstSeenOn: IsoDate
  readonly source: RowSource
}

/** A project with everything that its published texts are made from; lists are in their stable order. */
export type ProjectGraph = {
  readonly project: Project
  readonly organisation?: Organisation | undefined
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
