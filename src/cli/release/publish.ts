import { type Command, Option } from 'commander'
import { dispatchNext } from '../../../jobs/dispatch.js'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { toServiceError } from '../../kernel/errors.js'
import { publishInline } from '../../release/run.js'
import { createOwner } from '../../work/attempt.js'
import { refuseWrongClock } from '../../work/clock-check.js'
import type { RunProgress } from '../../work/run.js'
import { getRun, type RunSummary } from '../../work/sql/runs.js'
import { waitForEnd } from '../../work/wait.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { lookAtFacts } from '../wiring/assumed-facts.js'
import { requestPublication } from '../wiring/operator-actions.js'
import { openPublication, publicationFields } from '../wiring/publication.js'
import { describeRun } from '../wiring/runs.js'
import type { Runtime } from '../wiring/runtime.js'
import { followOnce, openDelivery } from '../wiring/shared-folders.js'
import { describeChanges } from './facts.js'

/** `giving publish`. */
export function registerPublish(program: Command, { storeAction }: CommandLine): void {
  addLongCommand(program, 'publish', 'publish now; exit code 1 when the release is held, 2 when the run failed')
    .option('--force', 'map every project again, changed or not', false)
    .option('--wait', 'stay until the run has ended', false)
    .option('--inline', 'do the work in this process, without queue and workers', false)
    .addOption(
      new Option('--dry-run', 'show what would change in the live release, by element, and change nothing')
        .default(false)
        .conflicts(['force', 'wait', 'inline']),
    )
    .action(storeAction(publishFields, publish))
}

const publishFields = ['queue', 'bucket', 'unset', ...publicationFields] as const

type PublishOptions = Readonly<Record<'force' | 'wait' | 'inline' | 'dryRun', boolean>>

/** Enters a run; `wait` and `inline` stay to its end. Exit code 0 published, unchanged or queued, 1 held, 2 failed. */
async function publish(runtime: Runtime, output: Output, options: PublishOptions): Promise<number> {
  const { force } = options
  if (options.dryRun) return await showChanges(runtime, output)
  if (options.inline) {
    const reserved = await requestPublication(runtime, { force, reserveSeconds: runtime.config.queue.lockSeconds })
    return report(await publishHere(runtime, options, output, reserved), output)
  }
  await using queue = await openQueue(queueSettings(runtime), runtime.log)
  const runId = await requestPublication(runtime, { force })
  await dispatchNext({ store: runtime.store, queue }, 'publication')
  if (!options.wait) return output.result({ run: runId, state: 'queued' }, () => `run ${runId} is queued`)
  const workers = await queue.liveWorkers('publish')
  if (workers === 0) {
    output.note('no worker is running: this process publishes itself')
    return report(await publishHere(runtime, options, output, runId), output)
  }
  const look = () => getRun(runtime.store.db, runId)
  const run = await output.withProgress((update) => {
    const onProgress = ({ progress }: RunSummary) => progress && update(progress.stage, progress.done, progress.total)
    return waitForEnd(look, { signal: runtime.signal, onProgress })
  })
  return report(run, output)
}

/** What a publication would change in the live release. */
async function showChanges(runtime: Runtime, output: Output): Promise<number> {
  await followOnce(runtime)
  const { activities, next } = await output.withProgress((update) =>
    lookAtFacts(runtime, (done) => update('map', done, undefined)),
  )
  const { release, changed, added, elements } = next
  return output.result({ activities, ...next }, () => [
    `${activities} activities; live is ${release ?? 'no release'}: ${changed} would change, ${added} would be new`,
    ...(changed === 0 ? [] : describeChanges(elements)),
  ])
}

async function publishHere(
  runtime: Runtime,
  options: PublishOptions,
  output: Output,
  runId: number,
): Promise<RunSummary> {
  await refuseWrongClock(runtime.store, runtime.clock)
  const publication = await openPublication(runtime)
  const { store, log, clock, signal, config } = runtime
  const deps = { store, publication, log, clock, owner: createOwner(), lockSeconds: config.queue.lockSeconds }
  const run = await output.withProgress((update) => {
    const onProgress = ({ stage, done, total }: RunProgress) => update(stage, done, total)
    return publishInline(deps, { trigger: 'manual', force: options.force, signal, onProgress, runId })
  })
  await deliverHere(runtime, output)
  return run
}

/** Delivers to the bucket without waiting for a worker; a failure is no failure of the publication. */
async function deliverHere(runtime: Runtime, output: Output): Promise<void> {
  try {
    await (await openDelivery(runtime))?.(runtime.signal)
  } catch (error) {
    output.note(`the bucket is behind: ${toServiceError(error).message}; the next publication or worker tries again`)
  }
}

function report(run: RunSummary, output: Output): number {
  return output.result(run, () => describeRun(run), { code: run.state === 'held' ? 1 : run.state === 'failed' ? 2 : 0 })
}
