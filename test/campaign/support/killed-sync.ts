import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createSyncRun, getSyncRun } from '../../../src/catalogue/sql/sync-runs.js'
import type { Db } from '../../../src/platform/database/connection.js'
import { mirrorContents, sync, until } from '../../support/catalogue/sync.js'
import { forkStripped } from '../../support/commands/cli.js'
import { aRecord, startUpstream, type TestUpstream } from '../../support/servers/upstream-server.js'
import { testDatabase } from '../../support/store/database.js'

/**
 * Mirrors an upstream twice: once undisturbed, once in processes that are killed while a page is being fetched or
 * written. `repeated` has how many pages were asked for again after each kill.
 */
export async function killedSync({ projects, kills }: { projects: number; kills: number }) {
  const upstream = await startUpstream(catalogue(projects))
  try {
    const calm = await testDatabase()
    const clock = () => new Date()
    const first = await sync(calm.store, upstream.url, 'full', { clock })
    if (first.state !== 'done') throw new Error(`the undisturbed sync is ${first.state}`)
    const stormy = await testDatabase()
    const { id } = await createSyncRun(stormy.store.db, {
      kind: 'full',
      trigger: 'manual',
      upstream: upstream.url,
      at: clock(),
      reserveSeconds: 3600,
    })
    const repeated: number[] = []
    const pages = Math.ceil(projects / upstream.state.pageSize)
    upstream.requests.length = 0
    for (let kill = 0; kill <= kills; kill++) {
      const before = list(upstream)
      const known = new Set(before)
      const child = await startSyncProcess(stormy.url, upstream.url, id)
      const exited = new Promise((resolve) => child.once('exit', resolve))
      if (kill > 0) {
        await until(() => cursors(upstream).size > known.size || child.exitCode !== null)
        repeated.push(
          list(upstream)
            .slice(before.length)
            .filter((cursor) => known.has(cursor)).length,
        )
      }
      if (kill < kills) {
        // Spread over the whole walk; now and then a page is being written when the kill comes.
        const target = Math.floor((pages * (kill + 1)) / (kills + 2))
        await until(() => cursors(upstream).size > target || child.exitCode !== null)
        await killSync(child, stormy.store.db, id)
      }
      await exited
    }
    const run = await getSyncRun(stormy.store.db, id)
    if (run.state !== 'done') throw new Error(`the disturbed sync is ${run.state}: ${run.error?.message}`)
    return {
      undisturbed: await mirrorContents(calm.store),
      killed: await mirrorContents(stormy.store),
      kills,
      repeated,
    }
  } finally {
    await upstream.close()
  }
}

function catalogue(projects: number) {
  const picture = (id: number, name: string) => ({
    id,
    imagelink: [{ size: 'original', url: `https://giving.example/${name}-${id}.jpg` }],
  })
  const ids = Array.from({ length: projects }, (_, index) => index + 1)
  return {
    records: ids.map((id) => aRecord(id, { imageGallerySize: id % 4 === 0 ? 2 : 0, image: picture(0, `main-${id}`) })),
    galleries: new Map(ids.map((id) => [id, [picture(0, `main-${id}`), picture(id, 'more')]])),
  }
}

/** A sync in a process of its own. */
export async function startSyncProcess(url: string, upstream: string, runId: number): Promise<ChildProcess> {
  const options = JSON.stringify({ url, upstream, runId, lockSeconds: 60 })
  return await forkStripped('test/campaign/support/sync-process.ts', [options])
}

/**
 * Kills (kill -9) the process of a sync and ends what is left of it: its sessions, and its lease, which on a busy machine
 * must be longer than the next process takes to start.
 */
export async function killSync(child: ChildProcess, db: Db, runId: number): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  await db.query(`select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and application_name = 'test sync process'`)
  await db.query('update sync_run set lease_until = clock_timestamp() where id = $1', [runId])
}

/** The pages that were asked for, in order. */
function list(upstream: TestUpstream): string[] {
  return upstream
    .asked('/all/projects')
    .filter((url) => !url.searchParams.has('modifiedSince'))
    .map((url) => url.searchParams.get('nextProjectId') ?? '')
}

function cursors(upstream: TestUpstream): Set<string> {
  return new Set(list(upstream))
}
