import { X509Certificate } from 'node:crypto'
import { readFile, statfs } from 'node:fs/promises'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import type { ConditionName } from '../../kernel/conditions.js'
import { toServiceError } from '../../kernel/errors.js'
import { isErrno, messageOf } from '../../kernel/system-errors.js'
import type { Db } from '../../platform/database/connection.js'
import { listRuns } from '../../work/sql/runs.js'
import type { Runtime } from './runtime.js'

/** A condition of the machine or its processes: `problem` where it needs a person. Status, alarms, console and doctor tell the same. */
export type Condition = {
  readonly cause: Extract<ConditionName, 'disk-full' | 'certificate' | 'no-worker'>
  readonly message: string
  readonly problem?: true
}

const lowDiskPercent = 10
const soonDays = 21
const mebibyte = 2 ** 20

/** The room on the disk of a folder; of one that is not there yet nothing is known. */
export async function conditionOfDisk(folder: string): Promise<Condition> {
  const { bavail, blocks, bsize } = await statfs(folder).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return { bavail: 0, blocks: 0, bsize: 0 }
    throw error
  })
  // Some network file systems do not say how large they are.
  const percent = blocks === 0 ? 100 : Math.floor((100 * bavail) / blocks)
  const room = `${Math.floor((bavail * bsize) / mebibyte)} MB (${percent}%) of its disk are free`
  if (percent >= lowDiskPercent) return { cause: 'disk-full', message: `${folder} can be written; ${room}` }
  return { cause: 'disk-full', message: `${folder}: only ${room}`, problem: true }
}

/** How long the certificate is valid. */
export async function conditionOfCertificate(certFile: string, now: Date): Promise<Condition> {
  const cause = 'certificate'
  try {
    const { validTo, subject } = new X509Certificate(await readFile(certFile))
    const message = `${subject.replaceAll('\n', ', ')} is valid until ${validTo}`
    const days = Math.floor((Date.parse(validTo) - now.getTime()) / 86_400_000)
    return { cause, message, ...(days < soonDays && { problem: true }) }
  } catch (error) {
    return { cause, message: `TLS_CERT_FILE: ${messageOf(error)}`, problem: true }
  }
}

/** Whether a worker lives; a problem as soon as a run waits for one, since then no worker sends an alarm either. */
export async function conditionOfWorkers(db: Db, workers: number): Promise<Condition> {
  if (workers > 0) return { cause: 'no-worker', message: `workers: ${workers}` }
  return (await waitingFor(db, 'no worker is running')) ?? { cause: 'no-worker', message: 'no worker is running' }
}

/** The problem that a run waits, and why; undefined where none does. */
async function waitingFor(db: Db, why: string): Promise<Condition | undefined> {
  const waiting = (await listRuns(db, 20)).findLast(({ state }) => state === 'queued')
  if (!waiting) return undefined
  const message = `run ${waiting.id} waits since ${waiting.queuedAt.toISOString()}, and ${why}`
  return { cause: 'no-worker', message, problem: true }
}

/** What an API process sends alarms about. */
export async function needsOfApi(runtime: Runtime): Promise<Condition[]> {
  const { config, clock } = runtime
  const conditions = [
    await conditionWhereRunsWait(runtime),
    ...(config.tls ? [await conditionOfCertificate(config.tls.certFile, clock())] : []),
  ]
  return conditions.flatMap((one) => (one?.problem ? [one] : []))
}

/** The queue is opened only while a run waits. */
async function conditionWhereRunsWait({
  config,
  databaseUrl,
  store: { db },
  log,
}: Runtime): Promise<Condition | undefined> {
  if (!(await waitingFor(db, ''))) return undefined
  try {
    await using queue = await openQueue(queueSettings({ config, databaseUrl }), log)
    return await conditionOfWorkers(db, await queue.liveWorkers('publish'))
  } catch (error) {
    return await waitingFor(db, `the queue cannot be reached: ${toServiceError(error).message}`)
  }
}
