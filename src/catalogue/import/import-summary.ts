import type { FieldProblem } from '../../kernel/errors.js'
import type { RowChange } from '../../platform/database/upsert.js'

/** One problem of an input: where, what was expected, what came. */
export type ImportProblem = FieldProblem & {
  readonly file: string
  readonly recordId?: string
  readonly line?: number
}

/** The result of an import; counts are exact, `problems` are the first, those of whole files first. */
export type ImportSummary = {
  readonly files: number
  /** Files that could not be read to their end; the records before the damage are imported. */
  readonly brokenFiles: number
  /** All records that were read, refused ones included. */
  readonly records: number
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  /** Records that a later one with the same id replaced within a batch. */
  readonly repeated: number
  readonly refused: number
  /** Records of which a stored value was kept: an operator's override, or a newer value; `problems` names it. */
  readonly kept: number
  readonly problems: readonly ImportProblem[]
  /** The number of all problems, those that `problems` leaves out included. */
  readonly problemCount: number
}

/** The exit code of an import: 0 all good, 1 something refused or broken, 2 nothing usable. */
export function importExitCode(summary: ImportSummary): 0 | 1 | 2 {
  if (summary.created + summary.changed + summary.unchanged === 0) return 2
  return summary.refused + summary.brokenFiles > 0 ? 1 : 0
}

/** Counts while an import runs, and keeps at most this many problems of records. */
export class ImportTally {
  records = 0
  repeated = 0
  #files = 0
  #brokenFiles = 0
  #created = 0
  #changed = 0
  #unchanged = 0
  #refused = 0
  #kept = 0
  #problemCount = 0
  readonly #maxProblems: number
  readonly #fileProblems: ImportProblem[] = []
  readonly #problems: ImportProblem[] = []

  constructor(maxProblems: number) {
    this.#maxProblems = maxProblems
  }

  beginFile(): void {
    this.#files++
  }

  breakFile(file: string, reason: string): void {
    this.#brokenFiles++
    this.#problemCount++
    const expected = 'a readable file of a kind that can be imported'
    this.#fileProblems.push({ file, field: 'file', expected, got: reason })
  }

  /** Counts one refused record, whatever the number of its problems. */
  refuse(where: Omit<ImportProblem, keyof FieldProblem>, problems: readonly FieldProblem[]): void {
    this.#refused++
    for (const problem of problems) this.#sample({ ...where, ...problem })
  }

  /** Counts a record of which a stored value was kept. */
  keep(where: Omit<ImportProblem, keyof FieldProblem>, problem: FieldProblem): void {
    this.#kept++
    this.#sample({ ...where, ...problem })
  }

  /** Counts one record that was not refused. */
  count(change: RowChange): void {
    if (change === 'created') this.#created++
    else if (change === 'changed') this.#changed++
    else this.#unchanged++
  }

  summary(): ImportSummary {
    return {
      files: this.#files,
      brokenFiles: this.#brokenFiles,
      records: this.records,
      created: this.#created,
      changed: this.#changed,
      unchanged: this.#unchanged,
      repeated: this.repeated,
      refused: this.#refused,
      kept: this.#kept,
      problems: [...this.#fileProblems, ...this.#problems],
      problemCount: this.#problemCount,
    }
  }

  #sample(problem: ImportProblem): void {
    this.#problemCount++
    if (this.#problems.length < this.#maxProblems) this.#problems.push(problem)
  }
}
