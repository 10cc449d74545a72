import { readRecord } from '../read-project.js'
import { transactionsOf } from '../record.js'
import type { View } from '../view.js'
import { csvDocument } from './csv.js'

/** The published transactions of a project as CSV (RFC 4180); undefined when it has no activity. */
export async function projectCsv(view: View, id: string): Promise<string | undefined> {
  const record = await readRecord(view, id)
  if (!record) return undefined
  const rows = transactionsOf(record.activity, view.language).map(({ date, type, currency, amount, ...said }) => [
    ...[date, type, currency, amount],
    ...[said.description.text, said.provider.text, said.receiver.text],
  ])
  return csvDocument(['date', 'type', 'currency', 'amount', 'description', 'provider', 'receiver'], rows)
}
