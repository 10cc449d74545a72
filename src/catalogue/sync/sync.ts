import { ServiceError } from '../../kernel/errors.js'
import { refuseOtherCurrency } from '../../money/sql/stated-totals.js'
import { findMirrorState, type SyncOutcome } from '../sql/sync-runs.js'
import { countPresent, findSupportsModifiedSince, recordSupportsModifiedSince } from '../sql/upstream-projects.js'
import { projectList } from '../wire/names.js'
import { readPage } from '../wire/read/upstream-documents.js'
import { syncDetails } from './sync-details.js'
import { deactivateVanished, importBulkFile, mirroredUntil, walkProjects } from './sync-projects.js'
import { syncOrganisations, syncReference } from './sync-reference.js'
import { accept, type Checkpoint, type SyncDeps, SyncSession } from './sync-session.js'

/**
 * Runs a claimed sync, from its checkpoint if it has one (docs/explanation/sync.md). Each page and the next checkpoint are one
 * transaction, fenced by the run's attempt, so the store is never half-written. Throws `upstream-unavailable`,
 * `upstream-refused`, `upstream-unusable`, `run-superseded`, `aborted`, `configuration-invalid` for another currency
 * than before, and the failures of the store.
 */
export async function runSync(deps: SyncDeps): Promise<SyncOutcome> {
  const { store, run, currency, signal } = deps
  await refuseOtherCurrency(store.db, 'upstream', currency)
  const session = new SyncSession(deps, (run.checkpoint as Checkpoint | undefined) ?? start)
  try {
    const reason = await runPhases(session)
    if (reason !== undefined) return { state: 'held', reason }
  } catch (error) {
    if (signal.aborted && !(signal.reason instanceof ServiceError)) {
      throw new ServiceError('aborted', 'the sync was interrupted', { cause: error })
    }
    throw signal.aborted ? signal.reason : error
  }
  const until = session.at.mirroredUntil
  return { state: 'done', ...(until !== undefined && { mirroredUntil: new Date(until) }) }
}

const start: Checkpoint = { phase: 'plan', full: true, cursor: 0, walked: 0 }

/** Runs the phases from the checkpoint on; returns a reason when the run is to be held. */
async function runPhases(session: SyncSession): Promise<string | undefined> {
  if (session.at.phase === 'plan') await plan(session)
  if (session.at.phase === 'reference') await syncReference(session)
  if (session.at.phase === 'bulk') await startWithBulkFile(session)
  if (session.at.phase === 'projects') {
    const reason = await walkProjects(session)
    if (reason !== undefined) return reason
  }
  if (session.at.phase === 'vanished') {
    const reason = await deactivateVanished(session)
    if (reason !== undefined) return reason
  }
  if (session.at.phase === 'organisations') await syncOrganisations(session)
  await syncDetails(session)
  return undefined
}

/** Chooses between everything, what changed since the last run, and the whole list where an upstream cannot filter by change. */
async function plan(session: SyncSession): Promise<void> {
  const { store, run } = session.deps
  const mirror = await findMirrorState(store.db, run.upstream)
  const full = run.kind === 'full' || !mirror.complete
  if (full) {
    await detectSince(session)
    return await session.move({ ...start, phase: 'reference', mirroredUntil: mirroredUntil(session) })
  }
  const supportsSince = (await findSupportsModifiedSince(store.db, run.upstream)) ?? (await detectSince(session))
  const since = supportsSince && mirror.mirroredUntil ? { since: mirror.mirroredUntil.toISOString() } : {}
  await session.move({ ...start, full: false, phase: 'projects', ...since })
}

/** The bulk file is old, so it is only used while the mirror is empty. */
async function startWithBulkFile(session: SyncSession): Promise<void> {
  const { store, run } = session.deps
  const isEmpty = session.at.cursor > 0 || (await countPresent(store.db)) === 0
  if (!isEmpty) return await session.move({ ...session.at, phase: 'projects', cursor: 0 })
  await importBulkFile(session, (await findSupportsModifiedSince(store.db, run.upstream)) ?? false)
}

// Nothing changed after this: an upstream that still answers with projects ignores the parameter.
const farFuture = '2999-01-01T00:00:00Z'

async function detectSince({ deps }: SyncSession): Promise<boolean> {
  const { client, signal, store, run, clock } = deps
  const supportsSince = await client.get(
    '/public/projectservice/all/projects',
    { modifiedSince: farFuture, limit: 1 },
    { accept, signal, expected: [400] },
    async ({ status, body }) => status === 200 && (await readPage(body, projectList)).records.length === 0,
  )
  await recordSupportsModifiedSince(store.db, run.upstream, supportsSince, clock())
  return supportsSince
}
