import type { FieldProblem } from '../../kernel/errors.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'

/** One record of a file, or a problem of its text. `source` is what stands in the file: the cells of a row, or a line. */
export type FileRecord = { readonly line: number; readonly source?: readonly string[] | Buffer | undefined } & (
  | { readonly value: ParsedValue }
  | { readonly problem: FieldProblem }
)

/** The column, or member, that says why a record was refused; readers pass over it. */
export const whyColumn = 'why'
