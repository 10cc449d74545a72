import { afterAll, describe, expect, it } from 'vitest'
import { newInstallation, type RunningService } from '../support/commands/cli.js'
import { browserProgram, launchBrowser, lookAt } from '../support/portal/browser.js'
import { redisMissing, startRedis } from '../support/servers/redis.js'

// One path each through what `npm run test:all` looks at closely: a real start, the browser, a kill, Redis.
const missing = redisMissing()
if (missing !== undefined) console.warn(`The queue is in PostgreSQL here, not in Redis: ${missing}.`)
const redis = missing === undefined ? await startRedis() : undefined
const installation = await newInstallation(redis && { REDIS_URL: redis.url })
let service: RunningService = await installation.start()

afterAll(async () => {
  await installation.remove()
  await redis?.stop()
})

const manifest = async () => {
  const response = await fetch(`${service.baseUrl}/feeds/manifest.json`)
  return (await response.json()) as { run: number; totals: { activities: number }; held: { count: number } }
}

describe('giving start', { shuffle: false }, () => {
  it('publishes the demo', async () => {
    expect(await manifest()).toMatchObject({ totals: { activities: 120 }, held: { count: 0 } })
    // The console has them.
    expect((await fetch(`${service.baseUrl}/metrics`)).status).toBe(404)
  })

  it('has a portal in a browser', async (context) => {
    if (browserProgram === undefined) return context.skip('there is no Chromium here')
    const browser = await launchBrowser()
    const way = { scheme: 'light', size: 'phone' } as const
    const problems = await lookAt(browser, service.baseUrl, '/projects/9000001', way, async (page) => {
      expect(await page.title()).not.toBe('')
    })
    await browser.close()
    expect(problems).toEqual([])
  })

  it('is killed in a run that was asked for, and takes it up when it starts again', async () => {
    const before = await manifest()
    expect((await installation.runHere(['seed', '--projects', '5'])).code).toBe(0)
    expect((await installation.runHere(['publish'])).code).toBe(0)
    service.kill('SIGKILL')
    expect(await service.ended).toBe('SIGKILL')
    service = await installation.start()
    const after = await manifest()
    expect(after.run).toBeGreaterThan(before.run)
    expect(after.totals.activities).toBe(before.totals.activities + 5)
  })

  it('works on what is asked for over the queue, and stops when it is told to', async () => {
    const { code, stdout } = await installation.runHere(['publish', '--wait', '--json'])
    expect({ code, state: (JSON.parse(stdout) as { state: string }).state }).toEqual({ code: 0, state: 'unchanged' })
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })
})
