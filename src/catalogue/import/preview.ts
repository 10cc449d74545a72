import { isoInstantOf } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { createYielder } from '../../kernel/yielder.js'
import { FirstLines } from './first-lines.js'
import { repeatedProblem } from './import.js'
import { ImportTally } from './import-summary.js'
import type { ImportSaving } from './kind.js'
import type { ReadableFile } from './record-files.js'
import type { ReadRecord } from './record-importer.js'

/** A record as it would be stored. */
export type PreviewedRecord = { readonly line: number; readonly fields: Readonly<Record<string, unknown>> }

/**
 * Reads all records of a file as an import does, without a store: counts them, groups their problems, and gives the first as
 * they would be stored. `take` gets every record that is not refused, and may refuse it.
 */
export async function previewRecords(
  opened: ReadableFile,
  saving: ImportSaving,
  tally: ImportTally = new ImportTally(100),
  take: (read: ReadRecord<unknown>) => FieldProblem | undefined = () => undefined,
): Promise<{ readonly records: readonly PreviewedRecord[]; readonly tally: ImportTally }> {
  const { file, importer } = opened
  const records: PreviewedRecord[] = []
  const firstLines = new FirstLines()
  const yieldIfDue = createYielder()
  tally.beginFile()
  for await (const item of opened.records(() => undefined)) {
    await yieldIfDue()
    if ('broken' in item) {
      tally.breakFile(file, item.broken)
      continue
    }
    if ('remark' in item) {
      tally.note({ file, line: item.line, source: undefined }, item.remark)
      continue
    }
    if ('leftOut' in item) {
      tally.leaveOut(item.leftOut)
      continue
    }
    tally.counts.records++
    const where = { file, line: item.line, source: item.source }
    const read = 'problem' in item ? { problems: [item.problem] } : await importer.read(item.value, { ...saving, file })
    if ('problems' in read) {
      const { recordId } = { recordId: undefined, ...read }
      tally.refuse({ ...where, ...(recordId !== undefined && { recordId }) }, read.problems)
      continue
    }
    if ('value' in item) tally.note({ ...where, recordId: read.key }, item.notice)
    const earlier = importer.repeated === 'each' ? undefined : firstLines.add(read.once.join(' '), item.line)
    if (earlier !== undefined) {
      tally.repeated++
      tally.note({ ...where, recordId: read.key }, repeatedProblem(read.once, earlier))
      // Of activities with one identifier a file has one.
      if (read.moved) continue
    }
    const problem = take(read)
    if (problem) {
      tally.refuse({ ...where, recordId: read.key }, [problem])
      continue
    }
    tally.count('created')
    tally.countMoved(where, read.moved)
    if (records.length < mostRecords) records.push({ line: item.line, fields: fieldsOf(read.row) })
  }
  return { records, tally }
}

const mostRecords = 20

/** What a person knows a record by: its fields, whatever its importer keeps beside them. */
function fieldsOf(row: unknown): Readonly<Record<string, unknown>> {
  const { row: own, record, text: _text, file: _file, line: _line, ...rest } = row as Readonly<Record<string, object>>
  const fields = own ?? { ...rest, ...record }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
}

/** The fields of a record with their values as texts or numbers, for people. */
export function shownFields({ fields }: PreviewedRecord): [name: string, value: unknown][] {
  return Object.entries(fields).map(([name, value]) => {
    if (value instanceof Date) return [name, isoInstantOf(value)]
    return [name, typeof value === 'object' ? JSON.stringify(value) : value]
  })
}
