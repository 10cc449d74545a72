import type { StateDeps } from '../../cli/extension.js'
import type { ExtensionState } from '../../cli/service-state.js'
import type { Db } from '../../platform/database/connection.js'
import { wantedDatasets } from './datasets.js'
import { countDatasets, findRegistryRecord, registryProblems, registryStatus } from './registry-record.js'

/** What is known of the registry without asking it. */
export async function lookAtState({
  config: { registry: settings },
  db,
  live,
}: StateDeps): Promise<ExtensionState | undefined> {
  if (!settings) return undefined
  const paths = live?.manifest.files.map(({ path }) => path) ?? []
  const codes = wantedDatasets(settings, paths).map(({ code }) => code)
  const facts = registryStatus(await findRegistryRecord(db), codes)
  const { askedAt, registered, missing, different } = facts
  const problems = registryProblems(facts)
  return {
    facts,
    line:
      askedAt === undefined
        ? 'never asked (giving registry status)'
        : `${registered.length} registered, ${missing.length} missing, ${different.length} different (${askedAt})`,
    needs: settings.sync ? problems.map((message) => ({ cause: 'registry', message })) : [],
    warnings: settings.sync ? [] : problems,
  }
}

/** How many datasets the registry had in each state when it was last asked. */
export async function datasetsByState(db: Db): Promise<Readonly<Record<string, number>>> {
  return countDatasets(await findRegistryRecord(db))
}
