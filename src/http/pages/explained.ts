import type { AssumptionName } from '../../iati/mapping/assumptions.js'
import { isoInstantOf } from '../../kernel/dates.js'
import type { RowSource } from '../../kernel/nouns/field.js'

/** Why an activity says what stands in one of its children, or in an attribute (`@name`). */
export type ExplainedElement = {
  readonly element: string
  /** `path value` of each text and attribute. */
  readonly values: readonly string[]
  readonly clauses: readonly string[]
  /** Imported fields that it is written from, as `kind.field`. */
  readonly fields: readonly string[]
  /** Where what these fields say came from, the newest first; where no import set one of them, where the records came from. */
  readonly origins: readonly Origin[]
  readonly assumed: readonly {
    readonly name: AssumptionName
    readonly states: string
    readonly reason: string
    readonly change: string
  }[]
}

/** A line of an import's file, a month in the books, or who else wrote the row. */
export type Origin =
  | {
      readonly record: string
      readonly import?: number
      readonly at: Date
      readonly file: string
      readonly line: number
      /** Those of the fields that the import set there; absent: that is not remembered any more. */
      readonly set?: readonly string[]
    }
  | {
      readonly month: string
      readonly kind: string
      readonly amount: string
      readonly currency: string
      readonly files: readonly string[]
    }
  | { readonly record: string; readonly source: string; readonly writer: RowSource }

export type ExplainedProject = {
  readonly project: number
  readonly identifier: string
  /** Whether a person has confirmed what is assumed. */
  readonly confirmed: boolean
  readonly elements: readonly ExplainedElement[]
}

/** Where a value came from, in a line. */
export function describeOrigin(origin: Origin): string {
  if ('source' in origin) return `${origin.record}: ${origin.source}`
  if ('month' in origin) {
    const from = origin.files.length === 0 ? '' : `, from ${origin.files.join(', ')}`
    return `${origin.month} ${origin.kind}: ${origin.amount} ${origin.currency} in the books${from}`
  }
  const by = origin.import === undefined ? '' : `, import ${origin.import} of ${isoInstantOf(origin.at)}`
  const set = origin.set === undefined ? '' : ` (${origin.set.join(', ')})`
  return `${origin.record}: ${origin.file}, line ${origin.line}${by}${set}`
}
