import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { createSyncRun, type SyncSummary } from '../../../src/catalogue/sql/sync-runs.js'
import { type SyncRunDeps, syncInline } from '../../../src/catalogue/sync/run.js'
import type { ClientOptions } from '../../../src/catalogue/sync/upstream-client.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import { readConfig } from '../../../src/platform/config/config.js'
import type { Db } from '../../../src/platform/database/connection.js'
import type { Store } from '../../../src/platform/database/store.js'
import type { SyncKind } from '../../../src/work/run.js'
import { apiKey } from '../servers/upstream-server.js'

/** How tests speak to their upstream: as fast as it answers, with short waits. */
function clientOptions(url: string, changes: Partial<ClientOptions> = {}): ClientOptions {
  return {
    url,
    apiKey,
    concurrency: 4,
    requestsPerSecond: 10_000,
    allowPrivateNetworks: true,
    userAgent: 'giving test',
    backoffMs: 5,
    ...changes,
  }
}

/** What a sync in the test's own process works with. */
export function syncWork(store: Store, url: string, changes: Partial<ClientOptions> = {}): SyncRunDeps {
  const config = readConfig({ UPSTREAM_URL: url, UPSTREAM_API_KEY: apiKey, REPORTING_ORG_REF: 'US-EIN-123456789' })
  if (!config.upstream) throw new Error('the configuration has no upstream')
  return {
    store,
    log: pino({ level: 'silent' }),
    clock: () => new Date(),
    owner: 'test',
    lockSeconds: 10,
    upstream: config.upstream,
    currency: 'USD' as CurrencyCode,
    client: clientOptions(url, changes),
  }
}

export type SyncChanges = Partial<ClientOptions> & {
  readonly acceptLoss?: boolean
  readonly clock?: () => Date
  readonly log?: pino.Logger
}

/** Enters a sync and does it here. */
export async function sync(
  store: Store,
  url: string,
  kind: SyncKind,
  { acceptLoss = false, clock, log, ...client }: SyncChanges = {},
): Promise<SyncSummary> {
  const work = { ...syncWork(store, url, client), ...(clock && { clock }), ...(log && { log }) }
  const { id } = await createSyncRun(store.db, {
    kind,
    trigger: 'manual',
    upstream: url,
    at: work.clock(),
    acceptLoss,
    reserveSeconds: 60,
  })
  return await syncInline(work, id, { signal: new AbortController().signal })
}

/** Everything that a sync may have written, in a stable order: two mirrors of the same upstream are equal in it. */
export async function mirrorContents(store: Store): Promise<Record<string, object[]>> {
  const tables = {
    project: 'select * from project order by id',
    organisation: 'select * from organisation order by id',
    theme: 'select * from theme order by id',
    country: 'select * from country order by code',
    project_theme: 'select * from project_theme order by project_id, position',
    project_country: 'select * from project_country order by project_id, position',
    donation_option: 'select * from donation_option order by project_id, position',
    photo: 'select * from photo order by project_id, position',
    video: 'select * from video order by project_id, position',
    donation_month: 'select * from donation_month order by project_id, month, kind',
    progress_report: 'select * from progress_report order by id',
    report_image: 'select * from report_image order by report_id, position',
    upstream_project: 'select project_id, present, gallery_key, reports_key from upstream_project order by project_id',
  }
  const contents: Record<string, object[]> = {}
  for (const [name, text] of Object.entries(tables)) contents[name] = (await store.db.query<object>(text)).rows
  return contents
}

/** Waits until something is so. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(10)
}

/**
 * Removes what syncs have brought, and numbers them from 1 again. To truncate the tables, which makes files anew for each and its
 * indexes, takes eight times as long.
 */
export async function forgetSyncs(db: Db): Promise<void> {
  const tables = ['sync_run', 'upstream_project', 'upstream_trait', 'donation_month', 'project', 'organisation']
  const statements = tables.map((table) => `delete from ${table}`)
  await db.query([...statements, 'alter table sync_run alter id restart'].join(';'))
}
