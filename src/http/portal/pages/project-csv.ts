import { parseElement, recordLimits } from '../../../kernel/xml/reader.js'
import { readActivity } from '../../../release/read/activity-index.js'
import { type ShownTransaction, transactionsOf } from '../record.js'
import type { View } from '../view.js'
import { csvDocument } from './csv.js'

const columns = [
  'date',
  'type',
  'currency',
  'amount',
  'description',
  'provider',
  'receiver',
] as const satisfies readonly (keyof ShownTransaction)[]

/** The published transactions of a project as CSV (RFC 4180); undefined when it has no activity. */
export async function projectCsv(
  view: Pick<View, 'index' | 'release' | 'language'>,
  project: number,
): Promise<string | undefined> {
  const row = view.index.rowOfProject(project)
  if (row === undefined) return undefined
  const activity = parseElement(await readActivity(view.release, view.index, row), recordLimits)
  return csvDocument(
    columns,
    transactionsOf(activity, view.language).map((one) =>
      columns.map((name) => {
        const value = one[name]
        return typeof value === 'string' ? value : value.text
      }),
    ),
  )
}
