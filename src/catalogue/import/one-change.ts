import { type Operator, recordAudit } from '../../accounts/sql/audit-events.js'
import type { Clock } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'
import type { Transact } from '../../platform/database/store.js'
import { beginImport, recordImport, writeAsImport } from '../sql/imports.js'

/** Changes one thing by hand as an import of its own, which `giving imports undo` takes back; returns its number. */
export async function changeAsImport(
  store: { readonly transaction: Transact },
  { clock, operator }: { readonly clock: Clock; readonly operator: Operator },
  what: { readonly name: string; readonly kind: string },
  work: (db: Db) => Promise<void>,
): Promise<number> {
  return await store.transaction(async (db) => {
    const id = await beginImport(db, operator, clock())
    await writeAsImport(db, id)
    await work(db)
    const counts = { records: 1, created: 0, changed: 1, unchanged: 0, refused: 0, kept: 0 }
    await recordImport(db, id, { ...counts, files: [{ ...what, ...counts }], problemCount: 0, problems: [] }, clock())
    const details = { files: 0, created: 0, changed: 1, refused: 0 }
    await recordAudit(db, { action: 'records-imported', subject: `import ${id}`, details, ...operator, at: clock() })
    return id
  })
}
