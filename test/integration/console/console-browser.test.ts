import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { holdFile, saveSource } from '../../../src/catalogue/sql/import-sources.js'
import { recordFact } from '../../../src/platform/database/facts.js'
import { recordPublisher } from '../../../src/platform/database/publisher.js'
import { rollbackRelease } from '../../../src/release/operate/operate-releases.js'
import { createRun, listRuns } from '../../../src/work/sql/runs.js'
import { adoptSchedule } from '../../../src/work/sql/schedules.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { axeFindings, browserProgram, launchBrowser, lookAt } from '../../support/portal/browser.js'
import { testPublisher } from '../../support/release/publishing.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { smallDisk } from '../../support/values/small-disk.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

if (!browserProgram) console.log('left out: the console in a browser (install Debian’s package chromium)')

/** Ids of releases that stand in more than one line of a table or list, told in the browser. */
const brokenIds = `[...document.querySelectorAll('th, td, dd')].flatMap((place) => {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
  const broken = []
  while (texts.nextNode()) {
    for (const { 0: id, index } of texts.currentNode.textContent.matchAll(/\\d{8}T\\d{6}Z-\\d+/g)) {
      const range = document.createRange()
      range.setStart(texts.currentNode, index)
      range.setEnd(texts.currentNode, index + id.length)
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(id)
    }
  }
  return broken
})`

describe.skipIf(!browserProgram)('the console in a browser', () => {
  let database: TestDatabase
  let browser: Browser
  let one: Console
  let dataDir: string
  let pages: readonly string[]

  beforeAll(async () => {
    database = await testDatabase()
    dataDir = await temporaryFolder()
    const publisher = await testPublisher(database.store, { feedsDir: path.join(dataDir, 'feeds') })
    const { db } = database.store
    await insertProjects(db, [{ id: 1 }, { id: 2 }, { id: 3 }])
    const { releaseId: first } = await publisher.publish()
    await db.query(`update project set title = 'Other wells' where id = 1`)
    const { releaseId: second } = await publisher.publish()
    await loseProjects(database.store, [3])
    const { releaseId: held } = await publisher.publish()
    await adoptSchedule(db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, new Date())
    const difference = `/releases/difference?from=${first}&to=${second}`
    pages = [
      ...['/', '/releases', difference, '/runs', '/runs/3', '/held', '/queues', '/audit', '/accounts', '/publish'],
      ...[`/releases/${held}/approve`, `/releases/${first}/rollback`],
    ]
    one = await openConsole({ DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir })
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await one?.close()
  })

  it('has no finding of axe, no message, no other host and no sideways scroll, in any scheme and size', async () => {
    const ways = (['light', 'dark'] as const).flatMap((scheme) =>
      (['phone', 'desktop'] as const).map((size) => ({ scheme, size })),
    )
    const problems: string[] = []
    // Each page in one way, all ways in turn.
    for (const [number, address] of pages.entries()) {
      const way = ways[number % ways.length] ?? { scheme: 'light', size: 'phone' }
      const see = async (page: Page) => {
        const found = await axeFindings(page)
        problems.push(...found.map((finding) => `${address} ${way.scheme} ${way.size}: ${finding}`))
        const broken = (await page.evaluate(brokenIds)) as string[]
        problems.push(...broken.map((id) => `${address} ${way.size}: ${id} is broken`))
      }
      problems.push(...(await lookAt(browser, one.base, address, way, see)))
    }
    expect(problems).toEqual([])
  })

  it('lets an operator do ten tasks, each from the overview, as docs/how-to/console.md lists them', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    const { db } = database.store
    const run = () => listRuns(db, 1).then(([newest]) => newest)
    const confirm = async (button: string) => {
      await page.getByLabel('Your name').fill('Ana')
      await page.getByRole('button', { name: button }).click()
    }
    const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
      'see whether anything needs a person, and go where it is done': async () => {
        await page.getByRole('link', { name: 'See what would change' }).click()
        await page.getByRole('heading', { name: 'Activities removed' }).waitFor()
      },
      'see why a release is held, and what would change': () =>
        page.getByText('It was held: 1 published identifier would vanish').waitFor(),
      'publish now': async () => {
        await page.getByRole('link', { name: 'Publish now' }).click()
        await confirm('Publish now')
        expect(await run()).toMatchObject({ state: 'queued', trigger: 'manual' })
      },
      'cancel a run': async () => {
        await page.getByRole('link', { name: 'Runs', exact: true }).click()
        await page.getByRole('link', { name: String((await run())?.id), exact: true }).click()
        await page.getByRole('link', { name: 'Cancel it' }).click()
        await confirm(`Cancel run ${(await run())?.id}`)
        await page.getByText(/^Run \d+ is asked to stop: it ends within seconds/).waitFor()
        await page.getByText('failed: an operator cancelled it').first().waitFor()
      },
      'ask for a run again': async () => {
        await page.getByRole('link', { name: 'Runs', exact: true }).click()
        await page.getByLabel('Number of a run').fill(String((await run())?.id))
        await page.getByRole('button', { name: 'Open' }).click()
        await page.getByRole('link', { name: 'Run again' }).click()
        await confirm(`Publish again as run ${(await run())?.id} did`)
        expect(await run()).toMatchObject({ state: 'queued' })
      },
      'find the runs that were held, and the lines of one': async () => {
        await page.getByRole('link', { name: 'Runs', exact: true }).click()
        await page.getByLabel('State').selectOption('held')
        await page.getByRole('button', { name: 'Show' }).click()
        await page.getByRole('rowheader', { name: '3', exact: true }).getByRole('link').click()
        await page.getByRole('heading', { name: 'Its log' }).waitFor()
      },
      'compare two releases': async () => {
        await page.getByRole('link', { name: 'Releases', exact: true }).click()
        await page.getByRole('button', { name: 'Compare' }).click()
        await page.getByText('Files that differ').waitFor()
      },
      'roll back, and say why': async () => {
        await page.getByRole('link', { name: 'Releases', exact: true }).click()
        await page
          .getByRole('link', { name: /^Roll back/ })
          .last()
          .click()
        await page.getByLabel('Why').fill('the titles are wrong')
        await confirm((await page.getByRole('heading', { level: 1 }).textContent()) ?? '')
        await page
          .getByRole('link', { name: /^Roll back/ })
          .first()
          .waitFor()
      },
      'pause a schedule and resume it': async () => {
        await page.getByRole('link', { name: 'Pause publish' }).click()
        await confirm('Pause the schedule publish')
        await page.getByRole('link', { name: 'Resume publish' }).click()
        await confirm('Resume the schedule publish')
        await page.getByRole('link', { name: 'Pause publish' }).waitFor()
      },
      'find who did something, and why': async () => {
        await page.getByRole('link', { name: 'Audit', exact: true }).click()
        await page.getByLabel('Action').selectOption('release-rolled-back')
        await page.getByRole('button', { name: 'Show' }).click()
        const row = page.getByRole('row', { name: /release-rolled-back/ })
        expect(await row.textContent()).toMatch(/operator Ana \(console\).*the titles are wrong/)
      },
    }
    const [, listed = ''] = readProjectFile('docs/how-to/console.md').split('## Ten tasks')
    const document = [...(listed.split('\n## ', 1)[0]?.matchAll(/^\d+\. (.+)\.$/gm) ?? [])].map(([, task]) => task)
    expect(document).toEqual(Object.keys(tasks))
    for (const [task, act] of Object.entries(tasks)) {
      if (!task.startsWith('see why')) await page.goto(one.base)
      await act().catch((error: unknown) => {
        throw new Error(`${task}: ${String(error)}`)
      })
    }
    await context.close()
  })

  describe('in eight situations answers on the first screen, and leads to the action in two clicks', async () => {
    const { store, url } = await testDatabase()
    const disk = await smallDisk(4)
    const folder = await temporaryFolder()
    const publisher = await testPublisher(store, { feedsDir: path.join(folder, 'feeds') })
    beforeAll(async () => {
      const { db } = store
      await insertProjects(db, [{ id: 1 }, { id: 2 }, { id: 3 }])
      const { releaseId: first = '' } = await publisher.publish()
      await db.query(`update project set title = 'Other wells' where id = 1`)
      await publisher.publish()
      await loseProjects(store, [3])
      await publisher.publish()
      await rollbackRelease(publisher.deps, first)
      const source = {
        name: 'crm',
        kind: 'gifts',
        from: '/srv/gifts',
        schedule: '30 1 * * *',
        reading: {},
        complete: true,
      }
      await saveSource(db, { ...source, guard: 5 }, new Date('2099-11-24'))
      const held = { file: 'gifts.csv', sha256: 'a', before: 40, changed: 3, gone: 2, examples: ['G-1'] }
      await holdFile(db, 'crm', { ...held, since: '2026-11-23T01:30:00.000Z' })
      await createRun(db, { trigger: 'manual', at: new Date() })
      await recordPublisher(db, { ref: 'US-EIN-1', type: '21', currency: 'USD', language: 'en' }, new Date())
      const place = { id: 'x', host: 'vm1', path: '/srv/feeds', since: '2026-11-20' }
      await recordFact(db, 'release-folder', JSON.stringify(place), new Date())
      if (disk !== undefined) await writeFile(path.join(disk, 'file'), Buffer.alloc(3.9 * 2 ** 20))
    })

    const real = { REPORTING_ORG_REF: 'US-EIN-1', REPORTING_ORG_TYPE: '21' }
    // What is read at once, and what is clicked; then the button that does it, or the command that is read.
    it.each([
      ['a release is held', {}, 'A release is held', ['See what would change, and approve'], 'Approve release'],
      [
        'a file is held',
        {},
        'A source needs you',
        ['See it, then decide', 'Approve'],
        'Approve the held file of the source crm',
      ],
      ['an earlier release is live', {}, 'An earlier release is live', ['Publish now'], 'Publish now'],
      ['a worker is dead', {}, 'No worker takes the run', ['See the queue'], undefined],
      [
        'Redis is down',
        { REDIS_URL: 'redis://127.0.0.1:1' },
        'The queue cannot be reached',
        ['See the queue'],
        undefined,
      ],
      ['the folder is gone', { ...real, GIVING_DATA_DIR: '' }, 'The folder is not the one of the store', [], undefined],
      ['the publisher differs', { ...real, REPORTING_ORG_REF: 'US-EIN-2' }, 'The publisher differs', [], undefined],
      [
        'the disk is nearly full',
        { GIVING_DATA_DIR: disk ?? '' },
        'The disk is nearly full',
        ['See the releases'],
        undefined,
      ],
    ] as const)('%s', async (name, environment, title, clicks, action) => {
      if (name === 'the disk is nearly full' && disk === undefined) return console.log(`left out: ${name} (needs root)`)
      const given = { GIVING_DATA_DIR: folder, ...environment }
      const dataDir = given.GIVING_DATA_DIR || (await temporaryFolder())
      const shown = await openConsole({ DATABASE_URL: url, ...given, GIVING_DATA_DIR: dataDir })
      onTestFinished(shown.close)
      const page = await browser.newPage({ javaScriptEnabled: false })
      onTestFinished(() => page.close())
      await page.goto(shown.base)
      const need = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
      expect(await need.innerText()).toMatch(
        action === undefined || name === 'a file is held' ? /Broken/ : /Waits for you/,
      )
      // The command, or the page of the documents, stands beside it.
      expect(await need.locator('code').innerText()).toMatch(/giving|docs\/|PUBLISH|REDIS|correct/)
      const [first, second] = clicks
      if (first !== undefined) await need.getByRole('link', { name: first }).click()
      if (second !== undefined) await page.getByRole('link', { name: second, exact: true }).click()
      if (action === undefined) return await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByLabel('Your name').fill('Ana')
      const button = page.getByRole('button', { name: action })
      if (name !== 'a file is held') return await button.waitFor()
      await button.click()
      await page.getByRole('status').filter({ hasText: 'The file of crm is approved. A worker imports it' }).waitFor()
    })
  })

  it('signs out on every page: the browser forgets name and token', async () => {
    const guarded = await openConsole({
      ...{ DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, OPS_TOKEN: 'ana:a-long-token-of-ana' },
    })
    onTestFinished(guarded.close)
    const page = await browser.newPage()
    const statusAfter = async (act: () => Promise<unknown>) => {
      // A page that is refused is no page for a browser that can ask nobody for a name.
      const answered = page.waitForResponse((one) => one.request().isNavigationRequest())
      const [answer] = await Promise.all([answered, act().catch(() => undefined)])
      return answer.status()
    }
    await page.goto(guarded.base.replace('//', '//ana:a-long-token-of-ana@'))
    await page.goto(`${guarded.base}/audit`)
    expect(await statusAfter(() => page.getByRole('link', { name: 'Sign out' }).click())).toBe(401)
    expect(await statusAfter(() => page.goto(`${guarded.base}/audit`))).toBe(401)
    await page.close()
  })
})
