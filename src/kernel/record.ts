import type { IsoDate } from './dates.js'
import type { CurrencyCode, Decimal } from './money.js'
import type { OrganisationFields } from './nouns/organisation.js'
import type { ProjectFields } from './nouns/project.js'
import type { Country, DonationOption, PhotoRenditions, ProgressReport } from './project.js'
import type { InLanguages } from './texts.js'

/** A theme in a record; its sector is stored, not stated. */
export type ThemeRecord = { readonly id: string; readonly name: string }

/** The main image: wire id 0, six renditions. */
export type ImageRecord = {
  readonly wireId: number
  readonly title?: string
  readonly renditions: PhotoRenditions
}

/** Fields that are unknown or could not be read, as they came; stored, never published. */
type UnknownFields = Readonly<Record<string, unknown>>

/** What publishing needs of a project beyond the wire format; what is absent stays as it is in the store. */
export type ProjectPublication = Partial<ProjectFields<'iati'>> & {
  readonly sdgs?: readonly string[]
  /** Shares of its countries in per cent; those of countries that are not here are unknown. */
  readonly countryShares?: readonly { readonly code: string; readonly share: Decimal }[]
  /** Agreed payouts, in the platform's currency; references are unique among all projects. */
  readonly payouts?: readonly {
    readonly reference: string
    readonly plannedOn: string
    readonly amount: Decimal
  }[]
}

/** What publishing needs of an organisation: its IATI identifier, code of OrganisationType, and languages. */
export type OrganisationPublication = InLanguages & { readonly ref?: string; readonly type?: string }

/** The organisation inside a project record. */
export type OrganisationRecord = OrganisationFields<'record'> & {
  readonly statedTotalProjects?: number
  readonly statedActiveProjects?: number
  readonly publication?: OrganisationPublication
  readonly themes: readonly ThemeRecord[]
  readonly countries: readonly Country[]
  readonly unknownFields?: UnknownFields
}

/** A project record of the wire format, read and checked. */
export type ProjectRecord = ProjectFields<'record'> & {
  readonly organisation?: OrganisationRecord
  /** The organisation of a record that does not bring its own. */
  readonly organisationId?: number
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

/** A record to be saved, with the hash that changes when the record does. */
export type HashedRecord = {
  readonly record: ProjectRecord
  readonly hash: string
  /** The day that its total is cumulative to; never later than the day of the import. */
  readonly cumulativeTo: IsoDate
  /** The newest instant at which its page is known to have said so; absent: not known. */
  readonly knownAt?: Date | undefined
  /**
   * What of the stored project the record leaves as it is: what pictures and reports make of it, and perhaps the totals;
   * absent: nothing.
   */
  readonly keeps?: 'parts' | 'parts and totals'
}

/** How records are saved; `today` is the UTC day of the import. */
export type SaveOptions = {
  readonly source: RecordSource
  readonly today: IsoDate
  /** The platform's one currency: records name none. */
  readonly currency: CurrencyCode
  /** Whether people shown on new photos are known to agree to worldwide publication. */
  readonly photoConsent: boolean
  /** The configured publisher, who counts where nobody has published yet. */
  readonly publisherRef?: string | undefined
  /** Whether a project or organisation stays that comes from a newer page; absent: pages come in order. */
  readonly keepNewer?: boolean
  /** Whether a record that was seen before is written where the store differs from it. */
  readonly repair?: boolean | undefined
}

/** A progress report in a feed; `contentHtml` is sanitised, and the address of its page identifies it. */
export type ReportRecord = Omit<ProgressReport, 'id' | 'projectId'>
