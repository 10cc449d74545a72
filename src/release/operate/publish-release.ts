import { hash } from 'node:crypto'
import { mappingVersion } from '../../iati/mapping/activity.js'
import { tablesVersion } from '../../iati/tables/tables.js'
import { isoDateOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Db } from '../../platform/database/connection.js'
import type { Outcome, Run } from '../../work/run.js'
import { Draft } from '../folder/draft.js'
import {
  listReleaseIds,
  newReleaseId,
  prepareFolder,
  type ReleaseFolder,
  releaseFolder,
  runOfRelease,
} from '../folder/release-folder.js'
import { isSameContent, type PlanResult, planRelease, type ReleasePlan } from '../plan/plan-release.js'
import type { PublicationDeps, WorkOptions } from '../publication.js'
import { indexFormat } from '../read/activity-entry.js'
import { type Manifest, releaseRow } from '../read/manifest.js'
import { releaseChain } from '../read/release-chain-file.js'
import { createReleaseReader, findHeldRelease, type ReadableRelease } from '../read/release-reader.js'
import { type ContentKind, forgetContent, isContentRemembered, rememberContent } from '../sql/content-changes.js'
import { recordLeftOut } from '../sql/left-out.js'
import { recordPublishableIdentifiers } from '../sql/published-identifiers.js'
import { underPublishingLock } from '../sql/publishing-lock.js'
import { findRelease, recordHeldRelease, recordLiveRelease } from '../sql/releases.js'
import { assignSegments } from '../sql/renderings.js'
import { assignReportPlaces } from '../sql/report-archives.js'
import { completeSummaries } from '../tables/complete-summaries.js'
import { writeFiles } from '../write/write-release.js'
import { holdReason } from './guards.js'
import { pruneReleases } from './prune-releases.js'
import { type LiveState, makeLive, recoverLiveRelease } from './recover.js'

// The run owns its lease. So another holder of the lock is a person's command, which ends soon, or a writer that was cut off.
const lockPatienceMs = 10_000

// Files of so many take more memory than rendering does.
const manyActivities = 20_000

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
    const state = await recoverLiveRelease(deps)
    const earlier = outcomeOfInterrupted(state, run, deps.feedsDir)
    if (earlier) return earlier
    const { live } = state
    await confirmLock()
    // Leftovers take space that this release may need.
    await pruneReleases(deps, state.rolledBackFrom)
    const contentOf = (release: string) => nameOfContent(deps, run, release)
    const isRemembered = (kind: ContentKind, release: string) =>
      isContentRemembered(deps.store.db, kind, contentOf(release))
    if (live && (await isRemembered('activities', live.id)) && (await isRemembered('organisations', live.id))) {
      return { state: 'unchanged', releaseId: live.id, held: live.manifest.held.count }
    }
    // The snapshot asks again, since a mark may have come meanwhile.
    const isSameSet = async (db: Db) =>
      live !== undefined && !run.force && (await isContentRemembered(db, 'organisations', contentOf(live.id)))
    const wasSameSet = await isSameSet(deps.store.db)
    await deps.store.transaction(async (db) => {
      if (!wasSameSet) await forgetContent(db, 'organisations')
      await forgetContent(db, 'activities')
      await assignSegments(db, deps.segmentBytes)
      await assignReportPlaces(db)
    })
    await completeSummaries(deps.store, signal)
    const likelyBytes = live?.manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
    await using draft = await Draft.begin(folder, newReleaseId(run), likelyBytes)
    deps.onStep?.('begun')
    let leftOut: ReleasePlan['leftOut']
    const assembled = await deps.store.snapshot(async (db, client) => {
      const snapshot = { db, client, signal }
      const plan = await planRelease(deps, run, snapshot, live, wasSameSet && (await isSameSet(db)))
      if ('leftOut' in plan) leftOut = plan.leftOut
      if (plan.verdict !== 'build') return plan
      const known = await outcomeOfKnown(deps, folder, state, plan)
      if (known) return known
      const newest =
        state.rolledBackFrom === undefined ? live : await createReleaseReader(deps.feedsDir).byId(state.rolledBackFrom)
      const chain = await releaseChain(newest)
      const { mappingConfig: config, signer, store } = deps
      const build = { config, run, draft, live, chain, ...(signer && { signer }), store, snapshot, signal, onProgress }
      const isWhole = (!live || run.force) && plan.totals.activities > manyActivities
      const write = () => writeFiles(build, plan)
      return { ...plan, manifest: await (isWhole && deps.sparingly ? deps.sparingly(write) : write()) }
    })
    const remember = (kind: ContentKind, release: string) =>
      deps.store.transaction((db) => rememberContent(db, kind, contentOf(release), deps.clock()))
    if (leftOut) await deps.store.transaction((db) => recordLeftOut(db, leftOut ?? [], deps.clock()))
    if ('state' in assembled) return assembled
    if (assembled.verdict === 'unchanged') {
      await remember('organisations', assembled.live.id)
      await remember('activities', assembled.live.id)
    }
    if (assembled.verdict !== 'build') return toOutcome(assembled)
    const { manifest } = assembled
    deps.onStep?.('written')
    refuseAborted(signal, 'publishing')
    await confirmLock()
    const reason = reasonToHold(deps, live, assembled, manifest)
    if (reason !== undefined) return await hold(deps, draft, manifest, reason)
    onProgress('commit', 0, 1)
    const outcome = await goLive(deps, draft, manifest, assembled.isSameSet, confirmLock)
    await remember('organisations', draft.id)
    await remember('activities', draft.id)
    onProgress('commit', 1, 1)
    return outcome
  })
}

/** Names everything that a release is made from beside the store. */
function nameOfContent({ mappingConfig, signer }: PublicationDeps, run: Run, release: string): string {
  const versions = [mappingVersion, tablesVersion, indexFormat]
  const parts = [release, isoDateOf(run.startedAt), mappingConfig, signer?.publicKey, versions]
  return hash('sha256', JSON.stringify(parts), 'base64')
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

async function hold(
  { store, clock, shared }: PublicationDeps,
  draft: Draft,
  manifest: Manifest,
  reason: string,
): Promise<Outcome> {
  await draft.seal('held')
  await shared?.releases.push()
  await store.transaction((db) => recordHeldRelease(db, { ...releaseRow(manifest), reason }, clock()))
  return { state: 'held', releaseId: draft.id, reason, held: manifest.held.count }
}

async function goLive(
  deps: PublicationDeps,
  draft: Draft,
  manifest: Manifest,
  isSameSet: boolean,
  confirmLock: () => Promise<void>,
): Promise<Outcome> {
  const { store, clock, onStep } = deps
  const row = releaseRow(manifest)
  if (!isSameSet) await store.transaction((db) => recordPublishableIdentifiers(db, draft.id, row.generatedAt))
  onStep?.('promised')
  await draft.seal('releases')
  onStep?.('sealed')
  await confirmLock()
  await makeLive(deps, draft.id)
  onStep?.('switched')
  await store.transaction((db) => recordLiveRelease(db, row, { event: 'published', at: clock() }))
  onStep?.('recorded')
  await pruneReleases(deps)
  return { state: 'published', releaseId: draft.id, held: manifest.held.count }
}
