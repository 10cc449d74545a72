import type { FieldProblem } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { findNumbers, giveNumbers, type NumberedTable, saveExternalIds } from '../sql/external-ids.js'
import { findProjectsByIdentifier } from '../sql/kept-activities.js'
import type { ClearedRow, KindFields } from './fields.js'
import { asChanged, isRefusal, type RecordOutcome } from './kind.js'

const tables: readonly NumberedTable[] = ['project', 'organisation', 'progress_report']

/**
 * Puts numbers of the API in the place of a platform's own ids: those of the rows themselves, which get a number when they
 * are new, and those of what they refer to, which must be stored.
 */
export async function resolveExternalIds(
  db: Db,
  fields: KindFields,
  rows: readonly ClearedRow[],
): Promise<(ClearedRow | FieldProblem)[]> {
  const references = Object.entries(fields).flatMap(([name, { type }]) =>
    type.refersTo ? [[name, type.refersTo] as const] : [],
  )
  const referred = (table: NumberedTable) =>
    references.flatMap(([name, of]) => (of === table ? rows.flatMap(({ row }) => textOf(row[name])) : []))
  const own = fields.id?.numbers
  // A project that came with its IATI activity is found by its identifier until it has an id of the platform.
  const published = await findProjectsByIdentifier(
    db,
    own === 'project' ? rows.flatMap(({ row }) => (row.id === undefined ? textOf(row.iatiIdentifier) : [])) : [],
  )
  const ownIds = rows.flatMap(({ row }) => textOf(row.externalId))
  if (ownIds.length === 0 && references.every(([name]) => rows.every(({ row }) => typeof row[name] !== 'string'))) {
    return [...rows]
  }
  const stored = new Map<NumberedTable, ReadonlyMap<string, number>>()
  for (const table of tables) {
    stored.set(table, await findNumbers(db, table, [...referred(table), ...(own === table ? ownIds : [])]))
  }
  const isNew = ({ row }: ClearedRow) =>
    row.id === undefined &&
    !(own && stored.get(own)?.has(String(row.externalId))) &&
    !published.has(String(row.iatiIdentifier))
  // A report is numbered by its address where its file names no number.
  const given =
    own === undefined || own === 'progress_report'
      ? new Map<string, number>()
      : await giveNumbers(
          db,
          own,
          rows.filter(isNew).flatMap(({ row }) => textOf(row.externalId)),
        )
  return rows.map((one) => {
    const row: Record<string, unknown> = { ...one.row }
    for (const [name, table] of references) {
      if (typeof row[name] !== 'string') continue
      const number = stored.get(table)?.get(row[name])
      if (number === undefined) return { field: name, expected: `${fields[name]?.type.expected}`, got: row[name] }
      row[name] = number
    }
    const [externalId] = textOf(row.externalId)
    if (own && externalId !== undefined) {
      const number = stored.get(own)?.get(externalId) ?? published.get(String(row.iatiIdentifier))?.id
      if (number !== undefined && row.id !== undefined && row.id !== number) {
        return {
          field: 'externalId',
          expected: 'an id that no other record has',
          got: `${externalId}, which ${number} has`,
        }
      }
      row.id ??= number ?? given.get(externalId)
    }
    return { ...one, row }
  })
}

function textOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : []
}

/** Writes the platform's ids of saved rows, each by its number; returns the outcomes with these changes. */
export async function keepExternalIds(
  db: Db,
  table: NumberedTable | undefined,
  rows: readonly { readonly id?: unknown; readonly externalId?: unknown }[],
  outcomes: readonly RecordOutcome[],
): Promise<RecordOutcome[]> {
  const wanted = rows.flatMap(({ id, externalId }, index) =>
    typeof externalId === 'string' && typeof id === 'number' && !isRefusal(outcomes[index]) ? [{ id, externalId }] : [],
  )
  const changed = new Set<unknown>(table ? await saveExternalIds(db, table, wanted) : [])
  return outcomes.map((outcome, index) => (changed.has(rows[index]?.id) ? asChanged(outcome) : outcome))
}
