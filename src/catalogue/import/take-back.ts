import { type Operator, recordAudit } from '../../accounts/sql/audit-events.js'
import type { Clock } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { type Obstacle, type Undone, undoImport } from '../sql/imports.js'

/** Takes an import back, or says what stands against it; a dry run changes nothing. Throws as `undoImport` does. */
export async function takeImportBack(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  id: number,
  { dryRun, operator }: { readonly dryRun: boolean; readonly operator: Operator },
): Promise<Undone | { readonly obstacles: readonly Obstacle[] }> {
  const work = async (db: Db) => {
    const outcome = await undoImport(db, id, operator, clock())
    if ('obstacles' in outcome) throw new Depended(outcome.obstacles)
    const { comment, ...who } = operator
    const details = comment === undefined ? {} : { comment }
    await recordAudit(db, { action: 'import-undone', subject: `import ${id}`, details, ...who, at: clock() })
    return outcome
  }
  try {
    return dryRun ? await store.rehearsal((transact) => transact(work)) : await store.transaction(work)
  } catch (error) {
    if (error instanceof Depended) return { obstacles: error.obstacles }
    throw error
  }
}

/** Rolls the work back. */
class Depended extends ServiceError {
  readonly obstacles: readonly Obstacle[]

  constructor(obstacles: readonly Obstacle[]) {
    super('import-needed', 'something depends on the import')
    this.obstacles = obstacles
  }
}

/** What taking an import back does, on a line each. */
export function describeUndone({ removed, returned, restored, closed }: Undone): string[] {
  const lines = (counts: Readonly<Record<string, number>>, done: string) =>
    Object.entries(counts).map(([table, rows]) => `${rows} of ${table} ${done}`)
  return [
    ...lines(removed, 'removed'),
    ...lines(returned, 'as before'),
    ...lines(restored, 'restored'),
    ...closed.map((project) => `project ${project} is published and stays, closed`),
  ]
}

/** What stands against taking an import back. */
export function describeObstacle({ what, key, needs, byImport, refused }: Obstacle): string {
  if (refused !== undefined) {
    const of = byImport === undefined ? '' : ` (of import ${byImport}: take that back first)`
    return `${[what, keyText(key)].join(' ').trim()}${of} stands in the way of what it would bring back: ${refused}`
  }
  const by = byImport === undefined ? '' : ` by import ${byImport}: take that back first`
  if (!needs) return `${what} ${keyText(key)} was changed since${by}`
  const more = needs.rows > 1 ? ` and ${needs.rows - 1} more` : ''
  return `${what} ${keyText(key)} is needed by ${needs.what} ${keyText(needs.key)}${more}${byImport === undefined ? '' : `, of import ${byImport}: take that back first`}`
}

function keyText(key: Readonly<Record<string, unknown>>): string {
  return Object.values(key)
    .map((value) => String(value))
    .join(' ')
}
