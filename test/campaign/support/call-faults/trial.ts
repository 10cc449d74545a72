import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Store } from '../../../../src/platform/database/store.js'
import type { ReleaseReader } from '../../../../src/release/read/release-reader.js'
import type { TestDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'
import type { Fault, FaultKind } from './counted-calls.js'
import type { GivingProcesses, Outcome, ProcessPlace } from './giving-process.js'

/** What is tried: some work, and what must be so after it, whichever of its calls failed. */
export type Trial = {
  readonly place: ProcessPlace
  /** Which faults are tried; all when absent. */
  readonly kinds?: readonly FaultKind[]
  /** Makes something to do; `round` is another number each time. */
  prepare(round: number): Promise<void>
  /** Does the work, under a fault or undisturbed. */
  act(processes: GivingProcesses, fault?: Fault): Promise<Outcome>
  /** Lets the time pass after which work that was left open may be taken up again. */
  passTime?(): Promise<void>
  /** Whether the work is done. */
  isDone(): Promise<boolean>
  /** What is wrong although the work may have ended anywhere. */
  wrongAnyTime(): Promise<readonly string[]>
  /** What is wrong once the work was done undisturbed. */
  wrongWhenDone(): Promise<readonly string[]>
  close(): Promise<void>
}

/** A data directory of its own, and the environment of processes on a database. */
export async function openPlace({ store, url }: TestDatabase, more: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder()
  const environment = {
    DATABASE_URL: url,
    GIVING_DATA_DIR: folder,
    PORT: '0',
    SHUTDOWN_DRAIN_SECONDS: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    RATE_LIMIT_PER_ADDRESS: '0',
    LOG_LEVEL: 'silent',
    ...more,
  }
  const close = () => rm(folder, { recursive: true, force: true })
  return { store, folder, feedsDir: path.join(folder, 'feeds'), place: { environment, folders: [folder] }, close }
}

/** A publisher whose data is no trial. */
export const real = {
  ...{ REPORTING_ORG_REF: 'US-EIN-123456789', REPORTING_ORG_NAME: 'Giving Platform', FACTS_CONFIRMED: 'yes' },
}

/** Lets the leases of dead processes run out. */
export async function endLeases({ db }: Store, table: 'run' | 'sync_run'): Promise<void> {
  await db.query(`update ${table} set lease_until = now() - interval '1 second' where state = 'running'`)
}

/** Runs that nobody works on and that say otherwise; a queued one waits for a worker. */
export async function untrueLedger(store: Store, table: 'run' | 'sync_run'): Promise<string[]> {
  const { rows } = await store.db.query<{ id: number; state: string }>(
    `select id, state from ${table} where state = 'running' or (state <> 'queued' and finished_at is null)`,
  )
  return rows.map(({ id, state }) => `${table} ${id} is ${state}`)
}

/** Whether the live activity file has the text. */
export async function isPublished(reader: ReleaseReader, text: string): Promise<boolean> {
  const file = await (await reader.live())?.find('/iati/activities.xml')
  return file !== undefined && (await file.identity.text()).includes(text)
}
