import type { Operator } from '../../accounts/sql/audit-events.js'
import type { ExplainedProject } from '../../http/pages/explained.js'
import { newestEdition } from '../../iati/mapping/assumptions.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import {
  type ConfirmedAssumptions,
  findConfirmedAssumptions,
  recordAssumptions,
} from '../../platform/database/confirmed-assumptions.js'
import { lockFacts } from '../../platform/database/facts.js'
import { findPublisher } from '../../platform/database/publisher.js'
import type { LookAhead, RuleChanges } from '../../release/look-ahead.js'
import { ActivityIndex } from '../../release/read/activity-index.js'
import type { IndexedRelease } from '../../release/read/changed-elements.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { auditOperator, userOfProcess } from './audit.js'
import { currentMapping, mappingFields } from './mapping.js'
import type { Runtime } from './runtime.js'

export const factsFields = [...mappingFields, 'unset'] as const

/** What is assumed and would change, by which edition, and who has confirmed it. */
export type Facts = LookAhead & {
  readonly edition: number
  readonly newest: number
  readonly confirmed?: { readonly by: string; readonly at: string }
  /** Whether a person has to confirm the newest edition. */
  readonly isOpen: boolean
}

/** Maps every project and looks at what it would say. */
export async function lookAtFacts(runtime: Runtime, onProgress: (done: number) => void): Promise<Facts> {
  const { store, config, clock, signal } = runtime
  const { lookAhead } = await import('../../release/look-ahead.js')
  const mapping = { ...(await currentMapping(runtime)), unset: config.unset }
  const live = await openLive(runtime)
  const found = await lookAhead({ db: store.db, config: mapping, now: clock(), live, signal, onProgress })
  const known = await findConfirmedAssumptions(store.db)
  const { by, at } = known ?? {}
  return {
    ...{ edition: known?.edition ?? newestEdition, newest: newestEdition, isOpen: await needsPerson(runtime, known) },
    ...(by !== undefined && at !== undefined && { confirmed: { by, at } }),
    ...found,
  }
}

/** What says for pages why the activity of a project says what it says. */
export function explainForPages(runtime: Runtime): (project: number) => Promise<ExplainedProject | undefined> {
  return async (project) => {
    const { explainProject } = await import('./explained-project.js')
    const config = { ...(await currentMapping(runtime)), unset: runtime.config.unset }
    return await explainProject(runtime.store.db, config, runtime.clock(), project)
  }
}

// A person waits for the state of the service.
const mostLooked = 200

/** What the next publication changes since rules or configuration are others than at the last; undefined: nothing does. */
export async function lookAtChangedRules(runtime: Runtime): Promise<RuleChanges | undefined> {
  const { lookAtNewRules } = await import('../../release/look-ahead.js')
  const deps = { db: runtime.store.db, config: await currentMapping(runtime), now: runtime.clock() }
  return await lookAtNewRules(deps, () => openLive(runtime), mostLooked)
}

async function openLive({ feedsDir }: Runtime): Promise<IndexedRelease | undefined> {
  const release = await createReleaseReader(feedsDir).live()
  return release && { release, index: await ActivityIndex.read(release) }
}

/** A person confirms once before the first release of a real publisher, and may confirm an edition that came later. */
async function needsPerson({ config, store }: Runtime, confirmed: ConfirmedAssumptions | undefined): Promise<boolean> {
  if (confirmed?.by !== undefined) return confirmed.edition < newestEdition
  if (isDemoPublisher(config.reportingOrg.ref)) return false
  return confirmed !== undefined || !(config.factsConfirmed || (await findPublisher(store.db)))
}

/** The edition that a store publishes by while a newer one waits for a person; undefined: none does. */
export async function olderEdition(runtime: Runtime): Promise<string | undefined> {
  const known = await findConfirmedAssumptions(runtime.store.db)
  if (known === undefined || known.edition === newestEdition || !(await needsPerson(runtime, known))) return undefined
  return (
    `what nobody states is published by edition ${known.edition} of the assumptions: giving facts shows what ` +
    `edition ${newestEdition} changes, and giving facts --confirm goes over to it`
  )
}

/** Lets the newest edition be published, in the name of who confirms it. */
export async function confirmFacts(runtime: Runtime, operator: Operator = userOfProcess()): Promise<void> {
  const { store, clock } = runtime
  await store.transaction(async (db) => {
    await lockFacts(db)
    const known = await findConfirmedAssumptions(db)
    if (known?.by !== undefined && known.edition === newestEdition) return
    await recordAssumptions(db, { edition: newestEdition, by: operator.actor }, clock())
    const event = { action: 'facts-confirmed', details: { edition: newestEdition } } as const
    await auditOperator(runtime, db, event, operator)
  })
}
