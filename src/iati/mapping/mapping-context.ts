import type { IsoDate } from '../../kernel/dates.js'
import type { Notice, Severity } from '../../kernel/notice.js'
import { type AssumptionName, isMade, statementOf } from './assumptions.js'
import type { MappingConfig } from './mapping-config.js'
import type { Text } from './narrative.js'
import { type MappingNoticeCode, mappingNotices } from './notices.js'

/** An organisation as IATI refers to it: at least one of `ref` and `name` is present (rule 6.10.1). */
export type Party = { readonly ref?: string; readonly type?: string; readonly name: Text }

/** What every element function may read besides the project; it also takes their notices. */
export class MappingContext {
  readonly config: MappingConfig
  /** The UTC day of the run: "today" for every rule about time. */
  readonly day: IsoDate
  readonly identifier: string
  /** The activity's: its narratives that name no other one are in it. */
  readonly language: string
  readonly notices: Notice[] = []
  /** What the elements say although nobody does. */
  readonly assumed = new Set<AssumptionName>()
  /** Organisations already mapped, by id, so that each has at most one notice. */
  readonly parties = new Map<number, Party>()
  #validUntil: IsoDate | undefined

  constructor(config: MappingConfig, day: IsoDate, identifier: string, language = config.language) {
    this.config = config
    this.day = day
    this.identifier = identifier
    this.language = language
  }

  /** Reports a finding about a source field. */
  notice(code: MappingNoticeCode, field: string, detail: string): void {
    const severity: Severity = mappingNotices[code].severity
    this.notices.push({ code, severity, subject: this.identifier, path: field, detail })
  }

  /** The edition of the assumptions. */
  get edition(): number {
    return this.config.edition ?? 1
  }

  /** Notes the assumption; returns the code that it states. */
  assume(name: AssumptionName): string {
    this.assumed.add(name)
    return statementOf(name, this.config)
  }

  /** The same where nobody has set the variable whose default is stated. */
  assumeDefault(name: AssumptionName, variable: string): void {
    if (this.config.unset?.includes(variable)) this.assumed.add(name)
  }

  /** The code that the operator states for all activities, else the assumed one; undefined: the element is left out. */
  codeOf(name: AssumptionName): string | undefined {
    const code = this.config.assumed.codes?.[name] ?? (isMade(name, this.edition) ? this.assume(name) : 'none')
    return code === 'none' ? undefined : code
  }

  /** Reports that on `day` the text changes although the data does not; the earliest such day counts. */
  changesOn(day: IsoDate): void {
    if (day > this.day && (this.#validUntil === undefined || day < this.#validUntil)) this.#validUntil = day
  }

  /** The first day on which the text changes although the data does not; undefined: never. */
  get validUntil(): IsoDate | undefined {
    return this.#validUntil
  }
}
