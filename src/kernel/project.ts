import type { IsoDate } from './dates.js'
import type { CurrencyCode, Decimal } from './money.js'
import type { FieldsOf, RowSource } from './nouns/field.js'
import type { disbursementFields, payoutPlanFields } from './nouns/money.js'
import type { OrganisationFields } from './nouns/organisation.js'
import type { photoFields } from './nouns/photo.js'
import type { ProjectFields } from './nouns/project.js'
import type { reportFields } from './nouns/report.js'
import type { themeFields } from './nouns/theme.js'
import type { InLanguages } from './texts.js'
import type { Element } from './xml/element.js'

export type { ProjectStatus, RowSource } from './nouns/field.js'

export type Country = { readonly code: string; readonly name: string }

/** A country of a project; `share` in per cent, absent when no split is known. */
export type ProjectCountry = Country & { readonly share?: Decimal | undefined }

/** A theme; `sectorCode` is its OECD DAC 5-digit purpose code (IATI vocabulary 1). */
export type Theme = FieldsOf<typeof themeFields>

/** An organisation. The store counts its projects where no record states their numbers. */
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
export type Photo = FieldsOf<typeof photoFields> & { readonly renditions: PhotoRenditions }

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
export type FunderOrganisation = InLanguages & {
  readonly id: number
  readonly name: string
  readonly ein?: string | undefined
  readonly orgRef?: string | undefined
  readonly orgType?: string | undefined
}

export type Disbursement = FieldsOf<typeof disbursementFields> & {
  /** What was paid, where that was in another currency. */
  readonly original?: { readonly amount: Decimal; readonly currency: CurrencyCode } | undefined
  /** Absent: paid to the project's own organisation. */
  readonly receiver?: FunderOrganisation | undefined
}

/** A payout that has been agreed on; a disbursement of the same reference fulfils it. */
export type PlannedPayout = FieldsOf<typeof payoutPlanFields>

/** One progress report; `url` is the address of its page and its permanent Atom id. */
export type ProgressReport = FieldsOf<typeof reportFields> & {
  readonly images: readonly { readonly url: string; readonly mediaType?: string | undefined }[]
}

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
