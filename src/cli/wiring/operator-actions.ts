import type { Operator } from '../../accounts/sql/audit-events.js'
import { askSource, decideHeldFile, type HeldFile } from '../../catalogue/sql/import-sources.js'
import { ServiceError } from '../../kernel/errors.js'
import { askTestAlarm } from '../../platform/alarms.js'
import type { Db } from '../../platform/database/connection.js'
import { approveRelease, rollbackRelease } from '../../release/operate/operate-releases.js'
import { tellOfRun } from '../../work/attempt.js'
import { cancelRun, createRun } from '../../work/sql/runs.js'
import { pauseSchedule, resumeSchedule } from '../../work/sql/schedules.js'
import { orNotFound } from '../command-line.js'
import type { ServingDeps } from '../extension.js'
import { audited, auditOperator, userOfProcess } from './audit.js'
import { refuseOthersFolder } from './folder.js'
import type { Runtime } from './runtime.js'

/** Enters a publication, which the workers' next round takes up; returns the run's id. */
export async function requestPublication(
  runtime: Runtime,
  { force, reserveSeconds }: { readonly force: boolean; readonly reserveSeconds?: number },
  operator?: Operator,
): Promise<number> {
  const at = runtime.clock()
  return await runtime.store.transaction(async (db) => {
    const { id } = await createRun(db, { trigger: 'manual', force, at, ...(reserveSeconds && { reserveSeconds }) })
    const event = { action: 'publication-requested', subject: `run ${id}`, details: { force } } as const
    await auditOperator(runtime, db, event, operator)
    return id
  })
}

/** Cancels a run that waits or is worked on; see `cancelRun`. */
export async function cancelPublication(runtime: Runtime, id: number, operator = userOfProcess()): Promise<void> {
  const { store, clock, log } = runtime
  const event = { action: 'run-cancelled', subject: `run ${id}` } as const
  await audited(runtime, event, (db) => cancelRun(db, id, clock()), operator)
  const by = operator.actor
  const told = { runId: id, kind: 'publication', level: 'warn' } as const
  await tellOfRun({ store, clock, log }, told, 'an operator asked to cancel the run', { by })
}

/** Asks for a test alarm. Throws `request-invalid` when nobody would be told. */
export async function testAlarm(runtime: Runtime, operator = userOfProcess()): Promise<void> {
  if (!runtime.config.alerts) {
    throw new ServiceError('request-invalid', 'nobody is told of alarms: set ALERT_MAIL_TO or ALERT_WEBHOOK_URL')
  }
  const ask = (db: Db) => askTestAlarm(db, operator.actor, runtime.clock())
  await audited(runtime, { action: 'alarm-tested' }, ask, operator)
}

/** Makes a held release live; see `approveRelease`. */
export async function approveHeld(
  runtime: Runtime,
  deliveryOf: ServingDeps['deliveryOf'],
  id: string,
  { acceptLoss }: { readonly acceptLoss: boolean },
  operator?: Operator,
) {
  const result = await approveRelease(await releaseDeps(runtime, deliveryOf), id, { acceptLoss })
  const details = { acceptLoss, withdrawn: result.withdrawn }
  const event = { action: 'release-approved', subject: `release ${id}`, details } as const
  await auditOperator(runtime, runtime.store.db, event, operator)
  runtime.log.warn(result, 'held release approved')
  return result
}

/** Puts an earlier release back; see `rollbackRelease`. */
export async function rollBackTo(
  runtime: Runtime,
  deliveryOf: ServingDeps['deliveryOf'],
  id: string,
  operator?: Operator,
) {
  const result = await rollbackRelease(await releaseDeps(runtime, deliveryOf), id)
  const event = { action: 'release-rolled-back', subject: `release ${id}`, details: { from: result.from } } as const
  await auditOperator(runtime, runtime.store.db, event, operator)
  runtime.log.warn(result, 'release rolled back')
  return result
}

/** Pauses a schedule, or puts it in force again. */
export async function switchSchedule(
  runtime: Runtime,
  name: string,
  to: 'paused' | 'resumed',
  operator?: Operator,
): Promise<void> {
  const change = to === 'paused' ? pauseSchedule : resumeSchedule
  const event = { action: `schedule-${to}`, subject: `schedule ${name}` } as const
  await audited(runtime, event, (db) => change(db, name, runtime.clock()), operator)
  runtime.log.warn({ schedule: name }, `schedule ${to}`)
}

/** Approves or refuses the file of a source that is held; returns what it would do. */
export async function decideSource(
  runtime: Runtime,
  name: string,
  decision: 'approve' | 'refuse',
  operator?: Operator,
): Promise<HeldFile> {
  const event = { action: 'source-decided', subject: `source ${name}`, details: { decision } } as const
  const held = await audited(runtime, event, (db) => decideHeldFile(db, name, decision, runtime.clock()), operator)
  runtime.log.warn({ source: name, decision }, 'decided on the held file of a source')
  return held
}

/** Makes a source due now: a worker reads it. */
export async function requestSource(runtime: Runtime, name: string, operator?: Operator): Promise<void> {
  const ask = async (db: Db) =>
    orNotFound((await askSource(db, name, runtime.clock())) || undefined, `there is no source ${name}`)
  await audited(runtime, { action: 'source-asked', subject: `source ${name}` }, ask, operator)
}

/** What changes of releases need. Throws `folder-differs`. */
async function releaseDeps(runtime: Runtime, deliveryOf: ServingDeps['deliveryOf']) {
  await refuseOthersFolder(runtime)
  const { store, feedsDir, clock, config } = runtime
  const { publish, reportingOrg } = config
  const shared = (await deliveryOf(runtime, 'person'))?.shared
  return { store, feedsDir, clock, shared, keepReleases: publish.keepReleases, publisherRef: reportingOrg.ref }
}
