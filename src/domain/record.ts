import type { IsoDate } from './dates.js'
import type { CurrencyCode, Decimal } from './money.js'
import type { Country, DonationOption, PhotoRenditions, ProjectStatus } from './project.js'

/** A theme as a record names it; its sector is the store's own knowledge. */
export type ThemeRecord = { readonly id: string; readonly name: string }

/** The main image: wire id 0, six renditions. */
export type ImageRecord = {
  readonly wireId: number
  readonly title?: string
  readonly renditions: PhotoRenditions
}

/** Fields that this program does not know or could not read, as they came; stored, never published. */
export type UnknownFields = Readonly<Record<string, unknown>>

/** What publishing needs of a project and the wire format cannot tell; absent: as it is in the store. */
export type ProjectPublication = {
  readonly deadline?: IsoDate
  readonly glideNumber?: string
  readonly locationName?: string
  readonly locationPrecision?: 'point' | 'country'
  readonly sdgs?: readonly string[]
  /** Agreed payouts, in the platform's currency; references are unique among all projects. */
  readonly payouts?: readonly {
    readonly reference: string
    readonly plannedOn: string
    readonly amount: Decimal
  }[]
}

/** What publishing needs of an organisation: its IATI identifier and code of OrganisationType. */
export type OrganisationPublication = { readonly ref?: string; readonly type?: string }

/** The organisation inside a project record (wire contract 3.3). */
export type OrganisationRecord = {
  readonly id: number
  /** A 64-bit integer as text: it may exceed what a number holds exactly. */
  readonly bridgeId?: string
  readonly name: string
  readonly ein?: string
  readonly addressLine1?: string
  readonly addressLine2?: string
  readonly city?: string
  readonly state?: string
  readonly postal?: string
  readonly countryCode?: string
  readonly countryName?: string
  readonly url?: string
  readonly logoUrl?: string
  readonly mission?: string
  readonly statedTotalProjects?: number
  readonly statedActiveProjects?: number
  readonly publication?: OrganisationPublication
  readonly themes: readonly ThemeRecord[]
  readonly countries: readonly Country[]
  readonly unknownFields?: UnknownFields
}

/** One project as the wire format tells it (wire contract 3.1), read and checked; absent fields are left out. */
export type ProjectRecord = {
  readonly id: number
  readonly active: boolean
  readonly status: ProjectStatus
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
  readonly funding: Decimal
  readonly remaining?: Decimal
  readonly numberOfDonations: number
  readonly numberOfReports?: number
  readonly dateOfMostRecentReport?: Date
  readonly imageLink?: string
  readonly imageGallerySize?: number
  readonly latitude?: Decimal
  readonly longitude?: Decimal
  readonly approvedDate?: Date
  readonly modifiedDate?: Date
  readonly organisation?: OrganisationRecord
  readonly publication?: ProjectPublication
  /** Primary first; codes have the shape of ISO 3166-1 alpha-2. */
  readonly countries: readonly Country[]
  /** Primary first. */
  readonly themes: readonly ThemeRecord[]
  readonly image?: ImageRecord
  readonly videos: readonly string[]
  readonly donationOptions: readonly DonationOption[]
  readonly unknownFields?: UnknownFields
}

/** The sources whose records arrive in the wire format. */
export type RecordSource = 'import' | 'upstream'

/** A record on its way into the store, with the hash that tells whether it changed since it was last written. */
export type HashedRecord = {
  readonly record: ProjectRecord
  readonly hash: string
  /** The day that its total is cumulative to: last change, else approval, else the day of the import; never later. */
  readonly cumulativeTo: IsoDate
}

/** How records are written; `today` is the UTC day of the import. */
export type WriteOptions = {
  readonly source: RecordSource
  readonly today: IsoDate
  /** The platform's one currency: records name none. */
  readonly currency: CurrencyCode
  /** Whether people shown on new photos are known to agree to worldwide publication. */
  readonly photoConsent: boolean
}

/** A progress report as a feed tells it; `contentHtml` is sanitised. */
export type ReportRecord = {
  /** Address of the report's page; it identifies the report. */
  readonly url: string
  readonly title: string
  readonly authorName?: string
  readonly publishedAt: Date
  readonly updatedAt: Date
  readonly contentHtml: string
  readonly images: readonly { readonly url: string; readonly mediaType?: string }[]
}
