import { listSources } from '../../catalogue/sql/import-sources.js'
import type { CommandLine } from '../../cli/command-line.js'
import { type Finding, fix, good, note } from '../../cli/finding.js'
import { openRuntime } from '../../cli/wiring/runtime.js'
import { conditions } from '../../kernel/conditions.js'
import { pendingMigrations } from '../../platform/database/migrate.js'
import { sourceNeeds } from './source-needs.js'

/** What needs a person, or how many sources there are. */
export async function inspectSources({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  await using runtime = await openRuntime(environment, [], { signal, migrate: false })
  const { db } = runtime.store
  if ((await pendingMigrations(db)).length > 0) return [note('not examined while migrations are pending')]
  const sources = await listSources(db)
  const needs = sourceNeeds(sources)
  if (needs.length > 0) return needs.map((need) => fix(need, conditions.sources.next))
  return [good(sources.length === 0 ? 'there is none' : `${sources.length} are read: giving sources list`)]
}
