import type { Operator } from '../../accounts/sql/audit-events.js'
import { removeSource, type SourceDefinition, saveSource } from '../../catalogue/sql/import-sources.js'
import { auditOperator } from '../../cli/wiring/audit.js'
import type { Runtime } from '../../cli/wiring/runtime.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { nextDueOf } from './run-source.js'
import { sealPlace, sealStoredPlaces, shownPlace } from './sealed-place.js'
import { openSourceKeys } from './source-keys.js'

/** Saves definitions and removes sources in one transaction; returns the names of those that differ. */
export async function changeSources(
  runtime: Runtime,
  definitions: readonly SourceDefinition[],
  removed: readonly string[],
  operator?: Operator,
): Promise<string[]> {
  return await runtime.store.transaction(async (db) => {
    // A source can be removed whatever became of the keys.
    const changed = definitions.length > 0 ? await saveDefinitions(runtime, db, definitions, operator) : []
    for (const name of removed) {
      if (!(await removeSource(db, name)))
        throw new ServiceError('not-found', `there is no source ${name}: see giving sources list`)
      await auditOperator(runtime, db, { action: 'source-removed', subject: `source ${name}` }, operator)
    }
    return changed
  })
}

async function saveDefinitions(
  runtime: Runtime,
  db: Db,
  definitions: readonly SourceDefinition[],
  operator: Operator | undefined,
): Promise<string[]> {
  const { config, clock } = runtime
  const keys = await openSourceKeys(config)
  const changed: string[] = []
  if (definitions.some(({ from }) => shownPlace(from) !== from)) await sealStoredPlaces(db, keys)
  for (const definition of definitions) {
    const { name, kind, from } = definition
    const sealed = { ...definition, from: await sealPlace(from, keys) }
    if (!(await saveSource(db, sealed, nextDueOf(definition, config.publish.timezone, clock())))) continue
    changed.push(name)
    const details = { kind, from: shownPlace(from) }
    await auditOperator(runtime, db, { action: 'source-saved', subject: `source ${name}`, details }, operator)
  }
  return changed
}

/** Encrypts with the first of DONOR_KEYS what is secret in the addresses. */
export async function rekeySources({ store, config }: Runtime): Promise<void> {
  await sealStoredPlaces(store.db, await openSourceKeys(config))
}
