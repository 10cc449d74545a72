import { createReadStream } from 'node:fs'
import { CsvError, parse } from 'csv-parse'
import { type IsoDate, parseIsoDate } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { type CurrencyCode, minorUnitExponent, parseDecimal, signOf } from '../domain/money.js'
import {
  type DisbursementOutcome,
  type DisbursementRecord,
  recordDisbursements,
} from '../store/donations/disbursements.js'
import type { Store } from '../store/store.js'

/** A line that was not taken over, and why. */
export type DisbursementProblem = {
  readonly line: number
  readonly field: string
  readonly expected: string
  readonly got: string
}

export type DisbursementSummary = {
  readonly lines: number
  readonly created: number
  /** In the books already, with the same values. */
  readonly known: number
  readonly refused: number
  /** The first problems; `refused` counts them all. */
  readonly problems: readonly DisbursementProblem[]
}

const columns = ['project', 'date', 'amount', 'currency', 'reference'] as const
type Line = Readonly<Record<(typeof columns)[number], string>>

const batchSize = 500
const shownProblems = 100

/**
 * Imports payouts from a CSV file with a header naming `project`, `date`, `amount`, `currency` and `reference`. Good
 * lines are taken over, each reference once; wrong ones and future dates are refused. Throws `input-unusable` when the
 * file cannot be read to its end; what was taken over until then stays, and the same file may be imported again.
 */
export async function importDisbursements(
  store: Store,
  file: string,
  options: { readonly today: IsoDate; readonly currency: CurrencyCode },
): Promise<DisbursementSummary> {
  const counts = { lines: 0, created: 0, known: 0, refused: 0 }
  const problems: DisbursementProblem[] = []
  const refuse = (problem: DisbursementProblem) => {
    counts.refused++
    if (problems.length < shownProblems) problems.push(problem)
  }
  let batch = new Map<string, { line: number; record: DisbursementRecord }>()
  const flush = async () => {
    const entries = [...batch.values()]
    batch = new Map()
    const outcomes = await store.transaction((db) =>
      recordDisbursements(
        db,
        entries.map(({ record }) => record),
      ),
    )
    for (const [index, { line, record }] of entries.entries()) {
      const outcome = outcomes[index]
      if (outcome === 'new') counts.created++
      else if (outcome === 'known') counts.known++
      else refuse(problemOf(outcome, line, record))
    }
  }
  for await (const { line, values } of readLines(file)) {
    counts.lines++
    const read = readRecord(values, options)
    if ('expected' in read) refuse({ line, ...read })
    else {
      // The same reference twice in one batch: the second is compared with the first in the books.
      if (batch.has(read.reference) || batch.size >= batchSize) await flush()
      batch.set(read.reference, { line, record: read })
    }
  }
  await flush()
  return { ...counts, problems }
}

function problemOf(outcome: DisbursementOutcome | undefined, line: number, record: DisbursementRecord) {
  return outcome === 'unknown-project'
    ? { line, field: 'project', expected: 'a project of this platform', got: String(record.projectId) }
    : { line, field: 'reference', expected: 'a new one, or the values it has in the books', got: record.reference }
}

async function* readLines(file: string): AsyncGenerator<{ line: number; values: Line }> {
  const source = createReadStream(file)
  const parser = parse({
    bom: true,
    columns: (header: string[]) => checkHeader(file, header),
    info: true,
    relax_column_count_more: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: 100_000,
  })
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  try {
    for await (const { info, record } of parser as AsyncIterable<{ info: { lines: number }; record: Line }>) {
      yield { line: info.lines, values: record }
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const known = cause instanceof CsvError || (cause instanceof Error && 'code' in cause)
    if (!known) throw cause
    throw new ServiceError('input-unusable', `${file} cannot be read: ${cause.message}`, { cause })
  } finally {
    source.destroy()
  }
}

function checkHeader(file: string, header: readonly string[]): string[] {
  const names = header.map((name) => name.toLowerCase())
  const missing = columns.filter((name) => !names.includes(name))
  if (missing.length > 0) {
    throw new ServiceError(
      'input-unusable',
      `${file}: expected a first line naming ${columns.join(', ')}; missing: ${missing.join(', ')}`,
    )
  }
  return names
}

function readRecord(
  values: Line,
  { today, currency }: { today: IsoDate; currency: CurrencyCode },
): DisbursementRecord | Omit<DisbursementProblem, 'line'> {
  const wrong = (field: keyof Line, expected: string) => ({ field, expected, got: values[field].slice(0, 100) })
  const on = parseIsoDate(values.date)
  const amount = parseDecimal(values.amount)
  const places = minorUnitExponent(currency)
  const fraction = amount?.split('.')[1] ?? ''
  if (!/^[1-9]\d{0,14}$/.test(values.project)) return wrong('project', 'a project identifier')
  if (on === undefined) return wrong('date', 'a day such as 2026-11-21')
  if (on > today) return wrong('date', `a day that is not after ${today}`)
  if (amount === undefined || signOf(amount) === 0 || fraction.length > places || amount.length > 16) {
    return wrong('amount', `a number other than 0 with at most ${places} decimals`)
  }
  if (values.currency !== currency) return wrong('currency', currency)
  if (values.reference === '' || values.reference.length > 200) return wrong('reference', '1 to 200 characters')
  return { projectId: Number(values.project), on, amount, currency, reference: values.reference }
}
