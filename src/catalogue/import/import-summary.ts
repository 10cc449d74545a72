import { fieldsOfElements } from '../../iati/mapping/kept.js'
import { validationNotices } from '../../iati/validation/index.js'
import type { FieldProblem } from '../../kernel/errors.js'
import type { RowChange } from '../../platform/database/upsert.js'
import type { ElementSummary, MovedRule, MovedTable } from '../sql/imports.js'
import type { ImportReceipt } from '../sql/receipts.js'
import type { FileRecord } from './file-record.js'
import { ReceiptTally } from './receipt.js'
import type { ElementFate, MovedRecord } from './record-importer.js'
import type { RefusedFile, RefusedRows } from './refused-rows.js'

/** One problem of an input: where, what was expected, what came. */
export type ImportProblem = FieldProblem & {
  readonly file: string
  readonly recordId?: string
  readonly line?: number
}

type ProblemGroup = {
  readonly file: string
  readonly field: string
  readonly expected: string
  readonly count: number
  /** The first of them. */
  readonly examples: readonly ImportProblem[]
}

/** The result of an import; counts are exact, `problems` are the first, those of whole files first. */
export type ImportSummary = MovedTable & {
  /** The number of the import; a dry run has none. */
  readonly import?: number
  readonly files: number
  /** Files that could not be read to their end; the records before the damage are imported. */
  readonly brokenFiles: number
  /** All records that were read, refused ones included. */
  readonly records: number
  readonly created: number
  readonly changed: number
  /** Records among the changed that ended, since a complete file does not have them. */
  readonly ended?: number
  readonly unchanged: number
  /** Records whose id stands on an earlier line of their file: the later one counts. */
  readonly repeated: number
  readonly refused: number
  /** Rows that the reading leaves out, by column and value. */
  readonly leftOut?: Readonly<Record<string, number>>
  /** Records of which a stored value was kept: an operator's override, or a newer value; `problems` names it. */
  readonly kept: number
  /** Unchanged records from which the store differs, since somebody changed it otherwise; `repair` writes them. */
  readonly differing: number
  readonly problems: readonly ImportProblem[]
  /** The number of all problems, those that `problems` leaves out included. */
  readonly problemCount: number
  /** All problems by file, field and what was expected, the most frequent first. */
  readonly groups: readonly ProblemGroup[]
  /** Every row and every sum of the files, and what the store has of it. */
  readonly receipt?: ImportReceipt
  /** The files that were written for refused records. */
  readonly refusedTo: readonly RefusedFile[]
}

/** The exit code of an import: 0 all good, 1 something refused or broken, 2 nothing usable. */
export function importExitCode(summary: ImportSummary): 0 | 1 | 2 {
  if (summary.created + summary.changed + summary.unchanged === 0) return 2
  return summary.refused + summary.brokenFiles > 0 ? 1 : 0
}

type Where = Omit<ImportProblem, keyof FieldProblem>

const maxGroups = 1000
const maxExamples = 3
const maxReasons = 50

/** Counts while an import runs, and keeps at most this many problems of records. */
export class ImportTally {
  /** What became of the records so far. */
  readonly counts = { records: 0, created: 0, changed: 0, unchanged: 0, refused: 0, kept: 0 }
  repeated = 0
  readonly money = new ReceiptTally()
  #files = 0
  #left = 0
  readonly #reasons = new Map<string, number>()
  #known = 0
  #brokenFiles = 0
  #differing = 0
  #problemCount = 0
  readonly #maxProblems: number
  readonly #refusedRows: RefusedRows | undefined
  readonly #fileProblems: ImportProblem[] = []
  readonly #problems: ImportProblem[] = []
  readonly #elements = new Map<string, { fate: ElementFate; why: Set<string> }>()
  readonly #moved = { activities: 0, heldActivities: 0, organisations: 0, heldOrganisations: 0 }
  readonly #rules = new Map<string, { count: number; examples: MovedRule['examples'][number][] }>()
  readonly #leftOut = new Map<string, number>()
  readonly #groups = new Map<string, { count: number; examples: ImportProblem[] }>()

  constructor(maxProblems: number, refusedRows?: RefusedRows) {
    this.#maxProblems = maxProblems
    this.#refusedRows = refusedRows
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

  /** Counts a row that the reading leaves out. */
  leaveOut(reason: string): void {
    this.#left++
    const known = this.#leftOut.has(reason) || this.#leftOut.size < maxGroups ? reason : 'others'
    this.#leftOut.set(known, (this.#leftOut.get(known) ?? 0) + 1)
  }

  /** Counts one refused record, whatever the number of its problems. */
  refuse(
    { source, ...where }: Where & { line: number; source: FileRecord['source'] },
    problems: readonly FieldProblem[],
  ): void {
    this.counts.refused++
    const [first] = problems
    const reason = first ? `${first.field}: expected ${first.expected.replace(/\d+/g, '#')}`.slice(0, 200) : ''
    const known = this.#reasons.has(reason) || this.#reasons.size < maxReasons ? reason : 'others'
    this.#reasons.set(known, (this.#reasons.get(known) ?? 0) + 1)
    this.#refusedRows?.add({ ...where, source, problems })
    for (const problem of problems) this.#sample({ ...where, ...problem })
  }

  /** Counts a record of which a stored value was kept. */
  keep(where: Where & { source: FileRecord['source'] }, problem: FieldProblem): void {
    this.counts.kept++
    this.note(where, problem)
  }

  /** Counts an unchanged record from which the store differs. */
  differ(): void {
    this.#differing++
  }

  /** Remembers what a person should know of a record that is not refused. */
  note(
    { source: _source, ...where }: Where & { source: FileRecord['source'] },
    problem: FieldProblem | undefined,
  ): void {
    if (problem) this.#sample({ ...where, ...problem })
  }

  /** Counts one record that was not refused. */
  count(change: RowChange): void {
    this.counts[change]++
  }

  /** Counts the records of a file that would change nothing. */
  countKnown(records: number): void {
    this.counts.records += records
    this.counts.unchanged += records
    this.#known += records
  }

  /** How many things there are to say of records so far. */
  get remarks(): number {
    return this.#problemCount + this.#differing + this.counts.refused + this.counts.kept + this.#brokenFiles
  }

  /** Counts one record of an IATI file that was not refused. */
  countMoved({ source: _, ...where }: Where & { source: FileRecord['source'] }, moved: MovedRecord | undefined): void {
    if (!moved) return
    const { isActivity, notices, left, elements } = moved
    this.#moved[isActivity ? 'activities' : 'organisations']++
    if (notices.length > 0) this.#moved[isActivity ? 'heldActivities' : 'heldOrganisations']++
    for (const [name, fate] of elements) {
      const { fate: sum } = this.#element(name)
      for (const what of ['taken', 'kept', 'leftOut', 'held'] as const) sum[what] += fate[what]
    }
    for (const { name, reason } of left) this.#element(name).why.add(reason)
    for (const { code, path, detail, line = where.line } of notices) {
      const [, name] = /^\/[^/]+\/([^/[@]+)/.exec(path) ?? []
      if (name !== undefined) this.#element(name).why.add(code)
      const rule = this.#rules.get(code) ?? { count: 0, examples: [] }
      rule.count++
      if (rule.examples.length < maxExamples)
        rule.examples.push({ ...where, ...(line !== undefined && { line }), path, detail })
      this.#rules.set(code, rule)
    }
  }

  #element(name: string) {
    const known = this.#elements.get(name) ?? { fate: { taken: 0, kept: 0, leftOut: 0, held: 0 }, why: new Set() }
    this.#elements.set(name, known)
    return known
  }

  countsSince(before: ImportTally['counts']): ImportTally['counts'] {
    const counts = { ...this.counts }
    for (const name of Object.keys(before) as (keyof typeof before)[]) counts[name] -= before[name]
    return counts
  }

  summary(): ImportSummary {
    return {
      files: this.#files,
      brokenFiles: this.#brokenFiles,
      ...this.counts,
      differing: this.#differing,
      repeated: this.repeated,
      problems: [...this.#fileProblems, ...this.#problems],
      problemCount: this.#problemCount,
      groups: [...this.#groups.values()]
        .flatMap(({ count, examples }) => {
          const [first] = examples
          return first ? [{ file: first.file, field: first.field, expected: first.expected, count, examples }] : []
        })
        .sort((a, b) => b.count - a.count),
      ...(this.#leftOut.size > 0 && { leftOut: Object.fromEntries(this.#leftOut) }),
      refusedTo: this.#refusedRows?.written ?? [],
      ...this.#movedSummary(),
    }
  }

  /** The rows of the files, of which each is in one of the other counts. */
  rows(): ImportReceipt['rows'] {
    const { records, created, changed, unchanged, refused } = this.counts
    const taken = created + changed + unchanged
    const { replaced } = this.money
    return { in: records + this.#left, taken, refused, leftOut: this.#left, replaced, known: this.#known }
  }

  /** Refused rows by the first reason of each, the most frequent first; numbers in a reason do not part it. */
  get refusedBy(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#reasons].sort(([, a], [, b]) => b - a))
  }

  #movedSummary(): MovedTable {
    const { activities, heldActivities, organisations, heldOrganisations } = this.#moved
    if (activities + organisations === 0) return {}
    const elements = [...this.#elements].map(([name, { fate, why }]): [string, ElementSummary] => {
      const field = fate.taken > 0 ? fieldsOfElements[name] : undefined
      return [name, { ...fate, ...(field && { field }), ...(why.size > 0 && { why: [...why].slice(0, maxExamples) }) }]
    })
    return {
      elements: Object.fromEntries(elements),
      moved: {
        activities: { publishable: activities - heldActivities, held: heldActivities },
        organisations: { publishable: organisations, heldInPart: heldOrganisations },
        rules: [...this.#rules]
          .map(([code, rule]) => ({ code, rule: validationNotices[code]?.sentence ?? '', ...rule }))
          .sort((a, b) => b.count - a.count),
      },
    }
  }

  #sample({ recordId, ...where }: ImportProblem): void {
    // A key of several fields, of which some are empty.
    const problem = { ...where, ...(recordId !== undefined && { recordId: recordId.replace(/\s+/g, ' ').trim() }) }
    this.#problemCount++
    if (this.#problems.length < this.#maxProblems) this.#problems.push(problem)
    this.#group(problem)
  }

  /** Numbers within what was expected, such as a line or a day, do not make a group of their own. */
  #group(problem: ImportProblem): void {
    const key = [problem.file, problem.field, problem.expected.replace(/\d+/g, '#')].join('\u001f')
    const group = this.#groups.get(key)
    if (group) {
      group.count++
      if (group.examples.length < maxExamples) group.examples.push(problem)
    } else if (this.#groups.size < maxGroups) this.#groups.set(key, { count: 1, examples: [problem] })
  }
}
