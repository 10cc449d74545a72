import { ServiceError } from '../../../domain/errors.js'
import type { Outcome, Run } from '../../../domain/run.js'
import { recordPublishableIdentifiers } from '../../../store/publication/published-identifiers.js'
import { findRelease, recordHeldRelease, recordLiveRelease } from '../../../store/publication/releases.js'
import { assignSegments } from '../../../store/publication/renderings.js'
import { assignReportPlaces } from '../../../store/publication/report-archives.js'
import { Draft } from '../../folder/draft.js'
import { underPublishingLock } from '../../folder/publishing-lock.js'
import { refuseAborted } from '../../folder/refuse-aborted.js'
import {
  listReleaseIds,
  newReleaseId,
  prepareFolder,
  type ReleaseFolder,
  releaseFolder,
  runOfRelease,
  switchLiveRelease,
} from '../../folder/release-folder.js'
import type { Progress, PublicationDeps, WorkOptions } from '../../publication.js'
import { isSameContent, type PlanResult, planRelease, type ReleasePlan } from '../plan/plan-release.js'
import type { Manifest } from '../read/manifest.js'
import { createReleaseReader, findHeldRelease, type ReadableRelease } from '../read/release-reader.js'
import { writeFiles } from '../write/write-release.js'
import { holdReason } from './guards.js'
import { pruneReleases } from './prune-releases.js'
import { type LiveState, reconcile } from './reconcile.js'

// The run owns its lease, so another holder of the lock is a person's command, which ends soon, or a writer that was cut
// off.
const lockPatienceMs = 10_000

/**
 * Builds a release of everything rendered and makes it live: a draft is written from one snapshot, sealed on disk, and made
 * live by one rename. Returns `unchanged` when no file and no held activity differs from the live release (or from the
 * one that a standing rollback took down), `held` with the reason when a guard refuses it. Safe to repeat after a crash
 * at any line.
 */
export async function publishRelease(
  deps: PublicationDeps,
  run: Run,
  { signal, onProgress = () => undefined }: WorkOptions,
): Promise<Outcome> {
  const folder = releaseFolder(deps.feedsDir)
  await prepareFolder(folder)
  const lock = { patienceMs: deps.lockPatienceMs ?? lockPatienceMs, onTimeout: 'take-over', signal } as const
  return await underPublishingLock(deps.store, lock, async (confirmLock) => {
    const state = await reconcile(deps)
    const earlier = outcomeOfInterrupted(state, run, deps.feedsDir)
    if (earlier) return earlier
    const { live } = state
    // Leftovers take space that this release may need.
    await pruneReleases(deps, state.rolledBackFrom)
    await deps.store.transaction(assignSegments)
    await deps.store.transaction(assignReportPlaces)
    await using draft = await Draft.begin(folder, newReleaseId(run))
    deps.onStep?.('begun')
    const assembled = await deps.store.snapshot(async (db, client) => {
      const plan = await planRelease(deps.mappingConfig, run, { db, client }, live)
      if (plan.verdict !== 'build') return plan
      const known = await outcomeOfKnown(deps, folder, state, plan)
      if (known) return known
      const build = { config: deps.mappingConfig, run, draft, live, client, signal, onProgress }
      return { ...plan, manifest: await writeFiles(build, plan) }
    })
    if ('state' in assembled) return assembled
    if (assembled.verdict !== 'build') return toOutcome(assembled)
    const { manifest } = assembled
    deps.onStep?.('written')
    refuseAborted(signal, 'publishing')
    await confirmLock()
    return await commit({ deps, run, draft, folder, state, manifest, plan: assembled, confirmLock, onProgress })
  })
}

/**
 * The outcome of a run that was interrupted after it had switched releases; undefined for any other. Throws
 * `run-superseded` when a later run has published.
 */
function outcomeOfInterrupted({ live, rolledBackFrom }: LiveState, run: Run, feedsDir: string): Outcome | undefined {
  if (!live) return undefined
  const newest = Math.max(live.manifest.run, rolledBackFrom === undefined ? 0 : runOfRelease(rolledBackFrom))
  if (newest > run.id) {
    throw new ServiceError(
      'run-superseded',
      `run ${run.id} is too late: run ${newest} has published already into ${feedsDir}; if another database made that ` +
        'release, move the folder away or set another GIVING_DATA_DIR',
    )
  }
  if (newest < run.id) return undefined
  const state = rolledBackFrom === undefined ? 'published' : 'unchanged'
  return { state, releaseId: live.id, held: live.manifest.held.count }
}

/** The outcome for content that was decided before: rolled back by a person, or held already. */
async function outcomeOfKnown(
  deps: PublicationDeps,
  folder: ReleaseFolder,
  { live, rolledBackFrom }: LiveState,
  plan: ReleasePlan,
): Promise<Outcome | undefined> {
  if (live && rolledBackFrom !== undefined) {
    const takenDown = await createReleaseReader(deps.feedsDir).byId(rolledBackFrom)
    if (takenDown && isSameContent(takenDown.manifest, plan)) {
      return { state: 'unchanged', releaseId: live.id, held: live.manifest.held.count }
    }
  }
  const [newestHeld] = await listReleaseIds(folder.held)
  const held = newestHeld === undefined ? undefined : await findHeldRelease(deps.feedsDir, newestHeld)
  if (!held || held.manifest.previous !== live?.id || !isSameContent(held.manifest, plan)) return undefined
  const reason = reasonToHold(deps, live, plan, held.manifest)
  // A held release that the database does not know is built and recorded again.
  if (reason === undefined || !(await findRelease(deps.store.db, held.id))) return undefined
  return { state: 'held', releaseId: held.id, reason, held: held.manifest.held.count }
}

function toOutcome(plan: Exclude<PlanResult, ReleasePlan>): Outcome {
  return plan.verdict === 'unchanged'
    ? { state: 'unchanged', releaseId: plan.live.id, held: plan.held.count }
    : { state: 'held', reason: plan.reason, held: plan.held.count }
}

function reasonToHold(
  { maxLossPercent }: PublicationDeps,
  live: ReadableRelease | undefined,
  { lossAccepted, vanished, unbalanced }: ReleasePlan,
  { totals, files, held }: Manifest,
): string | undefined {
  return holdReason(lossAccepted ? undefined : live?.manifest.totals, totals, {
    maxLossPercent,
    vanished,
    files,
    invalid: { live: live?.manifest.held.count ?? 0, next: held.count },
    unbalanced,
  })
}

type Commit = {
  readonly deps: PublicationDeps
  readonly run: Run
  readonly draft: Draft
  readonly folder: ReleaseFolder
  readonly state: LiveState
  readonly manifest: Manifest
  readonly plan: ReleasePlan
  readonly confirmLock: () => Promise<void>
  readonly onProgress: Progress
}

async function commit(step: Commit): Promise<Outcome> {
  const { deps, run, draft, folder, manifest, confirmLock, onProgress } = step
  const held = manifest.held.count
  const row = { id: draft.id, runId: run.id, generatedAt: new Date(manifest.generated), manifest }
  const reason = reasonToHold(deps, step.state.live, step.plan, manifest)
  if (reason !== undefined) {
    await draft.seal('held')
    await deps.store.transaction((db) => recordHeldRelease(db, { ...row, reason }, deps.clock()))
    return { state: 'held', releaseId: draft.id, reason, held }
  }
  onProgress('commit', 0, 1)
  await deps.store.transaction((db) => recordPublishableIdentifiers(db, draft.id, row.generatedAt))
  deps.onStep?.('promised')
  await draft.seal('releases')
  deps.onStep?.('sealed')
  await confirmLock()
  await switchLiveRelease(folder, draft.id)
  deps.onStep?.('switched')
  await deps.store.transaction((db) => recordLiveRelease(db, row, { event: 'published', at: deps.clock() }))
  deps.onStep?.('recorded')
  await pruneReleases(deps)
  onProgress('commit', 1, 1)
  return { state: 'published', releaseId: draft.id, held }
}
