import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { releaseFolder } from '../../../src/publishing/release-folder.js'
import { createReleaseReader } from '../../../src/publishing/releases.js'
import { findRun } from '../../../src/store/runs.js'
import type { Store } from '../../../src/store/store.js'
import { insertProjects } from '../catalogue.js'
import { faultsOf, faultsOfRelease } from '../published-folder.js'
import { askForRun, createFleet, type FleetProcess, runEnded, until } from './fleet.js'
import { type CampaignRow, duration, record, seeded } from './record.js'
import { scale } from './scale.js'

/**
 * Kills whoever works on a publication at random moments of it, again and again. Each time the release that was live is
 * whole, another process finishes the run, and in the end nothing is left behind.
 */
export async function killAtRandomMoments(
  engine: CampaignRow['engine'],
  store: Store,
  environment: Record<string, string>,
  kills: number,
): Promise<void> {
  const random = seeded(`kill -9, ${engine}`)
  const fleet = await createFleet({ ...environment, LOG_LEVEL: 'warn', SHUTDOWN_SECONDS: '4' })
  const reader = createReleaseReader(fleet.feedsDir)
  await insertProjects(
    store.db,
    Array.from({ length: 600 }, (_, index) => ({ id: index + 1 })),
  )
  // An all-in-one process and a worker: either may be the one that dies.
  const crew = new Map<number, FleetProcess>()
  const hire = async (command: 'start' | 'worker') => {
    const one = await fleet.start(command)
    crew.set(one.pid, one)
  }
  await Promise.all([hire('start'), hire('worker')])
  const first = await runEnded(store, await askForRun(store))
  let usualMs = Math.max(300, (first.finishedAt?.getTime() ?? 0) - (first.startedAt?.getTime() ?? 0))
  const moments: Record<string, number> = {}
  const takeovers: number[] = []

  const beganAt = performance.now()
  let tried = 0
  for (let kill = 0; kill < kills && (kill < 10 || performance.now() - beganAt < scale.patienceMs); kill++) {
    tried++
    await store.db.query('update project set title = $1 where id % 3 = $2', [`Title ${kill}`, kill % 3])
    const id = await askForRun(store)
    await until(async () => (await findRun(store.db, id))?.state !== 'queued', 5)
    await sleep(random() * usualMs * 1.2)
    const before = await findRun(store.db, id)
    const pid = Number(before?.owner?.split(':')[1])
    const victim = crew.get(pid) ?? [...crew.values()][Math.floor(random() * crew.size)]
    if (!victim) throw new Error('there is nobody to kill')
    const moment = before?.state === 'running' ? (before.progress?.stage ?? 'begin') : 'after commit'
    moments[moment] = (moments[moment] ?? 0) + 1
    await victim.kill()
    crew.delete(victim.pid)
    const killedAt = performance.now()
    // What readers get meanwhile is whole.
    const live = await reader.live()
    expect(await faultsOfRelease(path.join(releaseFolder(fleet.feedsDir).releases, live?.id ?? ''))).toEqual([])
    const replaced = hire(victim.command as 'start' | 'worker')
    if (moment !== 'after commit' && crew.get(pid) === undefined) {
      await until(async () => {
        const now = await findRun(store.db, id)
        return now && (now.attempt > (before?.attempt ?? 0) || now.finishedAt !== undefined)
      })
      takeovers.push(performance.now() - killedAt)
    }
    const run = await runEnded(store, id)
    expect(run.state, `run ${id}: ${JSON.stringify(run.error)}`).toMatch(/^(published|unchanged)$/)
    if (run.attempt === 1) usualMs = (run.finishedAt?.getTime() ?? 0) - (run.startedAt?.getTime() ?? 0) || usualMs
    await replaced
  }
  await runEnded(store, await askForRun(store))
  await until(async () => (await faultsOf(fleet.feedsDir, store)).length === 0 || undefined, 500)
  expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
  await fleet.end()
  const slowest = Math.max(0, ...takeovers)
  // The issue says 15 s for a lock of 10 s; here the lock is 2 s, and the machine may be busy.
  expect(slowest).toBeLessThan(30_000)
  const seen = Object.entries(moments).map(([moment, count]) => `${moment} ${count}`)
  record({
    name: 'kill -9 at a random moment of a publication',
    engine,
    tried,
    outcome: `all finished; taken over within ${duration(slowest)}; moments: ${seen.join(', ')}`,
  })
}
