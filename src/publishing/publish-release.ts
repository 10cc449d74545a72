import { ServiceError } from '../domain/errors.js'
import { recordHeldRelease, recordLiveRelease } from '../store/releases.js'
import { assignSegments, promiseIdentifiers } from '../store/renderings.js'
import { Draft } from './draft.js'
import { holdReason } from './guards.js'
import type { Manifest } from './manifest.js'
import { planRelease, type ReleasePlan } from './plan-release.js'
import type { Progress, PublicationDeps, PublishOutcome, RunHandle, WorkOptions } from './publication.js'
import {
  newReleaseId,
  prepareFolder,
  type ReleaseFolder,
  releaseFolder,
  sweep,
  switchLiveRelease,
} from './release-folder.js'
import { createReleaseReader, type ReadableRelease } from './releases.js'
import { writeFiles } from './write-release.js'

/**
 * Builds a release of everything rendered and makes it live: a draft is written from one snapshot, sealed on disk, and
 * switched to by one rename. Returns `unchanged` when no file and no held activity differs from the live release,
 * `held` with the reason when a guard refuses it. Safe to repeat after a crash at any line.
 */
export async function publishRelease(
  deps: PublicationDeps,
  run: RunHandle,
  { signal, onProgress = () => undefined }: WorkOptions,
): Promise<PublishOutcome> {
  const folder = releaseFolder(deps.feedsDir)
  await prepareFolder(folder)
  return await underPublishingLock(deps, async (stillOurs) => {
    const live = await reconcile(deps)
    if (live && live.manifest.run > run.id) {
      const newer = `release ${live.id} of run ${live.manifest.run} is already live`
      throw new ServiceError('run-superseded', `run ${run.id} is too late: ${newer}`)
    }
    // The run got as far as the switch before it was interrupted.
    if (live?.manifest.run === run.id) {
      return { state: 'published', releaseId: live.id, held: live.manifest.held.count }
    }
    await deps.store.transaction(assignSegments)
    await using draft = await Draft.begin(folder, newReleaseId(run))
    const assembled = await deps.store.snapshot(async (db, client) => {
      const plan = await planRelease(deps, run, db, live)
      if (plan.verdict !== 'build') return plan
      const build = { deps, run, draft, live, client, signal, onProgress }
      return { ...plan, manifest: await writeFiles(build, plan) }
    })
    if (assembled.verdict === 'unchanged') {
      return { state: 'unchanged', releaseId: assembled.live.id, held: assembled.held.count }
    }
    if (assembled.verdict === 'empty') {
      return { state: 'held', reason: assembled.reason, held: assembled.held.count }
    }
    const { manifest } = assembled
    if (signal.aborted) throw new ServiceError('aborted', 'publishing was interrupted; it will be done again')
    await stillOurs()
    return await commit({ deps, run, draft, folder, live, manifest, plan: assembled, onProgress })
  })
}

// Any constant; whoever holds it is the only one that writes drafts or moves the link.
const publishingLock = 7_241_032_604

async function underPublishingLock<T>(
  deps: PublicationDeps,
  work: (stillOurs: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return await deps.store.connection(async (db) => {
    await db.query('select pg_advisory_lock($1)', [publishingLock])
    try {
      // A lost connection has lost the lock; this query fails then, before anything becomes visible.
      return await work(async () => void (await db.query('select 1')))
    } finally {
      await db.query('select pg_advisory_unlock($1)', [publishingLock])
    }
  })
}

/** The directory is the truth: a switch that the database has not heard of is recorded now. */
export async function reconcile(
  deps: Pick<PublicationDeps, 'store' | 'feedsDir'>,
): Promise<ReadableRelease | undefined> {
  const live = await createReleaseReader(deps.feedsDir).live()
  if (!live) return undefined
  const { manifest } = live
  await deps.store.transaction((db) =>
    recordLiveRelease(db, {
      id: live.id,
      runId: manifest.run,
      generatedAt: new Date(manifest.generated),
      manifest,
    }),
  )
  return live
}

type Commit = {
  readonly deps: PublicationDeps
  readonly run: RunHandle
  readonly draft: Draft
  readonly folder: ReleaseFolder
  readonly live: ReadableRelease | undefined
  readonly manifest: Manifest
  readonly plan: Pick<ReleasePlan, 'vanished' | 'lossAccepted'>
  readonly onProgress: Progress
}

async function commit(step: Commit): Promise<PublishOutcome> {
  const { deps, run, draft, folder, manifest, onProgress } = step
  const held = manifest.held.count
  const row = { id: draft.id, runId: run.id, generatedAt: new Date(manifest.generated), manifest }
  const reason = holdReason(step.plan.lossAccepted ? undefined : step.live?.manifest.totals, manifest.totals, {
    maxLossPercent: deps.maxLossPercent,
    vanished: step.plan.vanished,
    files: manifest.files,
  })
  if (reason !== undefined) {
    await draft.seal('held')
    await deps.store.transaction((db) => recordHeldRelease(db, row))
    return { state: 'held', releaseId: draft.id, reason, held }
  }
  onProgress('commit', 0, 1)
  await deps.store.transaction((db) => promiseIdentifiers(db, draft.id, row.generatedAt))
  await draft.seal('releases')
  await switchLiveRelease(folder, draft.id)
  await deps.store.transaction((db) => recordLiveRelease(db, row))
  await sweep(folder, deps.keepReleases, deps.clock())
  onProgress('commit', 1, 1)
  return { state: 'published', releaseId: draft.id, held }
}
