import type { Command } from 'commander'
import { dispatchNext } from '../../../jobs/dispatch.js'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { createSyncRun, getSyncRun, listSyncProblems, type SyncSummary } from '../../catalogue/sql/sync-runs.js'
import { type SyncRunDeps, syncFields, syncInline, syncSettings } from '../../catalogue/sync/run.js'
import { ServiceError } from '../../kernel/errors.js'
import { createOwner } from '../../work/attempt.js'
import { refuseWrongClock } from '../../work/clock-check.js'
import { isFinished } from '../../work/run.js'
import { waitForEnd } from '../../work/wait.js'
import { addCommand, addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { describeSync, lookAtMirror } from '../wiring/runs.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving sync` and `giving sync status`. */
export function registerSync(program: Command, { storeAction }: CommandLine): void {
  const sync = addLongCommand(
    program,
    'sync',
    'mirror UPSTREAM_URL now; exit code 1 when the sync is held, 2 when it failed',
  )
    .option('--full', 'compare the whole catalogue, not only what changed', false)
    .option('--accept-loss', 'accept that the upstream offers much less than before', false)
    .option('--wait', 'stay until the sync has ended', false)
    .action(storeAction(mirrorFields, mirror))
  addCommand(
    sync,
    'status',
    'show the last syncs and how far the mirror is behind; exit code 1 when the last one needs a person',
  ).action(storeAction(['upstreamUrl'], showStatus))
}

const mirrorFields = ['queue', ...syncFields] as const

type SyncOptions = { readonly full: boolean; readonly acceptLoss: boolean; readonly wait: boolean }

/** Enters a sync for the queue; `wait` stays until its end. Exit code 0 done (or queued), 1 held, 2 failed. */
async function mirror(runtime: Runtime, output: Output, options: SyncOptions): Promise<number> {
  const { signal } = runtime
  const deps = syncDepsOf(runtime)
  await using queue = await openQueue(queueSettings(runtime), runtime.log)
  const { id: runId } = await createSyncRun(runtime.store.db, {
    kind: options.full ? 'full' : 'incremental',
    trigger: 'manual',
    upstream: deps.upstream.url,
    at: runtime.clock(),
    acceptLoss: options.acceptLoss,
  })
  await dispatchNext({ store: runtime.store, queue }, 'sync')
  if (!options.wait) return output.result({ sync: runId, state: 'queued' }, () => `sync ${runId} is queued`)
  const run = await output.withProgress(async (update) => {
    const onProgress = (at: { readonly stage?: string; readonly records: number; readonly found?: number }) =>
      update(at.stage ?? 'sync', at.records, at.found)
    const look = () => getSyncRun(runtime.store.db, runId)
    if ((await queue.liveWorkers('sync')) > 0) return await waitForEnd(look, { signal, onProgress })
    output.note('no worker is running: this process syncs itself')
    await refuseWrongClock(runtime.store, runtime.clock)
    return await syncInline(deps, runId, { signal, onProgress })
  })
  return report(runtime, run, output)
}

/** The last syncs, and how far the mirror is behind. Exit code 1 when the last one needs a person. */
async function showStatus(runtime: Runtime, output: Output): Promise<number> {
  const mirror = await lookAtMirror(runtime.store.db, runtime.config.upstreamUrl, runtime.clock())
  const { upstream, lagSeconds, runs } = mirror
  const ended = runs.find(isFinished)
  const needsPerson = ended?.state === 'held' || ended?.state === 'failed'
  const problems = ended ? await listSyncProblems(runtime.store.db, ended.id, 10) : []
  return output.result(
    mirror,
    () => [
      `upstream: ${upstream ?? 'none (UPSTREAM_URL is not set)'}`,
      `lag:      ${lagSeconds === undefined ? 'never synced to the end' : `${lagSeconds} s`}`,
      ...runs.map(describeSync),
      ...problems.map(
        ({ subject, field, expected, got }) => `  ${subject}, ${field}: expected ${expected}, got ${got ?? 'nothing'}`,
      ),
    ],
    { code: needsPerson ? 1 : 0 },
  )
}

function report(runtime: Runtime, run: SyncSummary, output: Output): number {
  output.result(run, () => describeSync(run))
  if (run.state === 'held') output.note('no project was made inactive; see giving sync status')
  else if (run.state === 'done' && run.kind === 'full')
    output.note('next: giving facts, then giving publish; giving held says what is left out, and why')
  runtime.log.debug({ runId: run.id, state: run.state }, 'sync ended')
  return run.state === 'done' ? 0 : run.state === 'held' ? 1 : 2
}

function syncDepsOf(runtime: Runtime): SyncRunDeps {
  const { config, store, log, clock } = runtime
  const settings = syncSettings(config)
  if (!settings) {
    throw new ServiceError('configuration-invalid', 'UPSTREAM_URL is not set: expected the platform to mirror', {
      problems: [{ field: 'UPSTREAM_URL', expected: 'the address of the platform to mirror' }],
    })
  }
  return { store, log, clock, owner: createOwner(), lockSeconds: config.queue.lockSeconds, ...settings }
}
