import { createHash } from 'node:crypto'
import type { IsoDate } from '../../domain/dates.js'
import type { CurrencyCode } from '../../domain/money.js'
import type { Notice, Severity } from '../../domain/notice.js'
import { type MappingNoticeCode, mappingNotices } from './notices.js'
import type { Party } from './party.js'

/** Moves whenever the mapping would write another text for the same input; every rendering is then made anew. */
export const mappingVersion = 2

/** What the mapping reads besides a project: the same for all activities of a file. */
export type MappingConfig = {
  readonly reportingOrg: { readonly ref: string; readonly name: string; readonly type: string }
  readonly currency: CurrencyCode
  /** ISO 639-1; the `xml:lang` of every activity. */
  readonly language: string
  /** Public address of this service, without trailing slash. */
  readonly baseUrl: string
}

/** Names the mapping and its configuration; a rendering made under another key is stale (architecture.md 2.2). */
export function inputKey(config: MappingConfig): string {
  const { reportingOrg, currency, language, baseUrl } = config
  const parts = [mappingVersion, reportingOrg.ref, reportingOrg.name, reportingOrg.type, currency, language, baseUrl]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

/**
 * The state of mapping one project: what it may read, and what it found out on the way. Element functions take it, read
 * `config` and `day`, and report through `notice` and `validUntil`.
 */
export class Mapping {
  readonly config: MappingConfig
  /** The UTC day of the run: "today" for every rule about time. */
  readonly day: IsoDate
  readonly identifier: string
  readonly notices: Notice[] = []
  /** The organisations met so far by id, so that a finding about one is told once. */
  readonly parties = new Map<number, Party>()
  #validUntil: IsoDate | undefined

  constructor(config: MappingConfig, day: IsoDate, identifier: string) {
    this.config = config
    this.day = day
    this.identifier = identifier
  }

  /** Reports a finding about a source field. */
  notice(code: MappingNoticeCode, field: string, detail: string): void {
    const severity: Severity = mappingNotices[code].severity
    this.notices.push({ code, severity, subject: this.identifier, path: field, detail })
  }

  /** Says that time alone changes the text on `day`; the earliest such day counts. */
  changesOn(day: IsoDate): void {
    if (day > this.day && (this.#validUntil === undefined || day < this.#validUntil)) this.#validUntil = day
  }

  /** The first day on which time alone changes the text; undefined: never. */
  get validUntil(): IsoDate | undefined {
    return this.#validUntil
  }
}
