import type { LicenceId } from '../../kernel/licence.js'
import type { CurrencyCode } from '../../kernel/money.js'

/** What is published where no record states it: a name that may have `{publisher}`, and codes (iati.md 5.1, 5.3, 10.1). */
export type Assumptions = {
  /** The giving public. */
  readonly donors: string
  /** OrganisationType of a partner that is not from a country of its project. */
  readonly partnerType: string
  /** DocumentCategory of a project's further document. */
  readonly documentCategory: string
  /** Codes by the name of the assumption that they replace; `none` leaves the element out. */
  readonly codes?: Readonly<Record<string, string>> | undefined
}

/** The name of the giving public. */
export function donorsName({ donors }: Assumptions, publisher: string): string {
  return donors.replaceAll('{publisher}', () => publisher)
}

/** What the mapping reads besides a project: the same for all activities of a file. */
export type MappingConfig = {
  readonly reportingOrg: { readonly ref: string; readonly name: string; readonly type: string }
  /** Where the publisher answers enquiries. */
  readonly contact?: { readonly email?: string | undefined; readonly page?: string | undefined }
  readonly assumed: Assumptions
  /** Of the assumptions; absent: the first. */
  readonly edition?: number
  /** Variables that nobody has set; only who lists assumptions needs them. */
  readonly unset?: readonly string[]
  /** Identifiers that the publisher had before, oldest first. */
  readonly earlierRefs?: readonly string[]
  readonly currency: CurrencyCode
  /** ISO 639-1: the language of records that name none. */
  readonly language: string
  /** Public address of this service, without trailing slash. */
  readonly baseUrl: string
  /** The licence of everything published; stated in the descriptions of a release. */
  readonly licence?: LicenceId
}
