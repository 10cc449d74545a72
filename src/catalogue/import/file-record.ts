import type { FieldProblem } from '../../kernel/errors.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'

/** One record of a file, or a problem of its text. */
export type FileRecord =
  | { readonly line: number; readonly value: ParsedValue }
  | { readonly line: number; readonly problem: FieldProblem }
