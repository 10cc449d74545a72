import type { IsoDate } from './dates.js'
import type { FieldsOf, FieldTable, StatedBy } from './field-table.js'
import type { CurrencyCode, Decimal } from './money.js'
import type { Element } from './xml/element.js'

/** Where a row came from: only this source may change it. */
export type RowSource = 'local' | 'import' | 'upstream' | 'demo'

export type ProjectStatus = 'active' | 'funded' | 'retired'

export type Country = { readonly code: string; readonly name: string }

/** A country of a project; `share` in per cent, absent when no split is known. */
export type ProjectCountry = Country & { readonly share?: Decimal | undefined }

/** A theme; `sectorCode` is its OECD DAC 5-digit purpose code (IATI vocabulary 1). */
export type Theme = {
  readonly id: string
  readonly name: string
  readonly sectorCode?: string | undefined
  readonly humanitarian: boolean
}

/** What each kind of field holds. */
type FieldKinds = {
  readonly text: string
  /** A text that may be stated as empty, which differs from one that is absent. */
  readonly textOrEmpty: string
  /** A whole number that a JavaScript number holds exactly. */
  readonly integer: number
  /** A 64-bit integer as text: it may exceed what a number holds exactly. */
  readonly bigint: string
  readonly boolean: boolean
  readonly decimal: Decimal
  readonly day: IsoDate
  readonly instant: Date
  readonly status: ProjectStatus
  readonly precision: 'point' | 'country'
  readonly source: RowSource
}

/**
 * The fields of an organisation, listed once, as `projectFields` lists those of a project. Its numbers of projects are
 * not here: the store counts them where no record states them.
 */
export const organisationFields = [
  ['id', 'integer', 'record'],
  ['name', 'text', 'record'],
  ['ein', 'textOrEmpty?', 'record'],
  ['addressLine1', 'textOrEmpty?', 'record'],
  ['addressLine2', 'text?', 'record'],
  ['city', 'text?', 'record'],
  ['state', 'text?', 'record'],
  ['postal', 'text?', 'record'],
  ['url', 'text?', 'record'],
  ['logoUrl', 'text?', 'record'],
  ['mission', 'text?', 'record'],
  ['bridgeId', 'bigint?', 'record'],
  // The country of the address.
  ['countryCode', 'text?', 'record'],
  ['countryName', 'text?', 'record'],
  // Its own IATI organisation identifier, and its code of IATI OrganisationType.
  ['orgRef', 'text?', 'iati'],
  ['orgType', 'text?', 'iati'],
] as const satisfies FieldTable<FieldKinds>

export type OrganisationFields<By extends StatedBy = StatedBy> = FieldsOf<typeof organisationFields, FieldKinds, By>

export type Organisation = OrganisationFields & {
  readonly totalProjects: number
  readonly activeProjects: number
  readonly themes: readonly Theme[]
  /** Where it works. */
  readonly countries: readonly Country[]
}

/** The six renditions of a picture, smallest first: the order of the wire format. */
export const renditions = ['small', 'thumbnail', 'medium', 'large', 'extraLarge', 'original'] as const

/** The addresses of a picture's renditions. */
export type PhotoRenditions = { readonly [Rendition in (typeof renditions)[number]]?: string | undefined }

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

export type DonationOption = { readonly amount: Decimal; readonly description?: string | undefined }

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
  /** What was paid, where that was in another currency. */
  readonly original?: { readonly amount: Decimal; readonly currency: CurrencyCode } | undefined
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

/** One progress report; `url` is the address of its page and its permanent Atom id. */
export type ProgressReport = {
  readonly id: number
  readonly projectId: number
  readonly title: string
  readonly authorName?: string | undefined
  readonly publishedAt: Date
  readonly updatedAt: Date
  readonly contentHtml: string
  readonly url: string
  readonly images: readonly { readonly url: string; readonly mediaType?: string | undefined }[]
}

/**
 * The fields of a project, listed once: the types `Project` and `ProjectRecord` and the store's statements follow from
 * this table. The column of a field is its name in snake case.
 */
export const projectFields = [
  ['id', 'integer', 'record'],
  ['active', 'boolean', 'record'],
  ['status', 'status', 'record'],
  // The operator has halted it.
  ['paused', 'boolean', 'iati'],
  ['type', 'text', 'record'],
  ['title', 'text', 'record'],
  ['summary', 'text?', 'record'],
  ['need', 'text?', 'record'],
  ['longTermImpact', 'text?', 'record'],
  ['activities', 'text?', 'record'],
  ['notice', 'textOrEmpty?', 'record'],
  ['additionalDocumentation', 'textOrEmpty?', 'record'],
  ['contactName', 'textOrEmpty?', 'record'],
  ['contactTitle', 'textOrEmpty?', 'record'],
  ['contactAddress', 'text?', 'record'],
  ['contactAddress2', 'textOrEmpty?', 'record'],
  ['contactCity', 'text?', 'record'],
  ['contactState', 'text?', 'record'],
  ['contactPostal', 'text?', 'record'],
  ['contactCountry', 'text?', 'record'],
  ['contactUrl', 'text?', 'record'],
  ['projectLink', 'text?', 'record'],
  ['progressReportLink', 'text?', 'record'],
  ['themeName', 'text?', 'record'],
  ['imageLink', 'text?', 'record'],
  ['countryName', 'text?', 'record'],
  ['countryCode', 'text?', 'record'],
  ['regionName', 'text?', 'record'],
  ['goal', 'decimal?', 'record'],
  // The goal that the store first saw.
  ['originalGoal', 'decimal?', 'service'],
  ['funding', 'decimal', 'record'],
  ['remaining', 'decimal?', 'record'],
  ['numberOfDonations', 'integer', 'record'],
  ['numberOfReports', 'integer?', 'record'],
  ['dateOfMostRecentReport', 'instant?', 'record'],
  // Of the record's main image.
  ['imageTitle', 'text?', 'service'],
  ['imageGallerySize', 'integer?', 'record'],
  ['latitude', 'decimal?', 'record'],
  ['longitude', 'decimal?', 'record'],
  ['approvedDate', 'instant?', 'record'],
  ['modifiedDate', 'instant?', 'record'],
  // When a donation or refund made here last changed its totals.
  ['totalsChangedAt', 'instant?', 'service'],
  ['deadline', 'day?', 'iati'],
  // The identifier under which it is published elsewhere already.
  ['iatiIdentifier', 'text?', 'iati'],
  // The emergency that the project answers to (glidenumber.net).
  ['glideNumber', 'text?', 'iati'],
  // The populated place that latitude and longitude stand for.
  ['locationName', 'text?', 'iati'],
  ['locationPrecision', 'precision', 'iati'],
  // The UTC day on which this store first saw the project.
  ['firstSeenOn', 'day', 'service'],
  ['source', 'source', 'service'],
] as const satisfies FieldTable<FieldKinds>

export type ProjectFields<By extends StatedBy = StatedBy> = FieldsOf<typeof projectFields, FieldKinds, By>

export type Project = ProjectFields

/** What another publisher's file said of a project before it moved here. */
export type Kept = {
  /** The element as the file has it, with the namespaces that it needs. */
  readonly text: string
  /** The UTC day of the first import. */
  readonly movedOn: IsoDate
  /** Where the element begins; absent in what an earlier version imported. */
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** Whether the platform numbered the project itself, before or beside the file. */
  readonly ownNumber?: boolean | undefined
  /** The earlier identifier of the publisher with which the activity's begins, where only the operator said so. */
  readonly formerly?: string | undefined
  /** The element read from the text, for who has read it already. */
  readonly read?: KeptElement | undefined
}

/** An element of another publisher's file as it is published, and what of it is not. */
export type KeptElement = { readonly element: Element; readonly left: readonly LeftOut[] }

/** A part of a file that is not published again. */
export type LeftOut = {
  /** Child of the record that it is in, or is. */
  readonly name: string
  readonly path: string
  readonly reason: string
  readonly line?: number | undefined
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
  readonly kept?: Kept | undefined
  /** Moves with every change of any part. */
  readonly version: number
}
