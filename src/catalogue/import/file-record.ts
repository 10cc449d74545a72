import type { FieldProblem } from '../../kernel/errors.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'

/** One record of a file, or a problem of its text. `source` is what stands in the file: the cells of a row, or a line. */
export type FileRecord = {
  readonly line: number
  readonly source?: readonly string[] | Buffer | undefined
  /** Of the last one, that nothing tells whether it is whole: `open` without the end of its line, `short` with fewer cells than others. */
  readonly ending?: string
} & (
  | { readonly value: ParsedValue; readonly notice?: FieldProblem }
  /** The reading leaves it out: a column and its value. */
  | { readonly leftOut: string; readonly value?: ParsedValue }
  | { readonly problem: FieldProblem }
)

/** The column, or member, that says why a record was refused; readers pass over it. */
export const whyColumn = 'why'
