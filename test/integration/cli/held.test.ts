import { expect, it } from 'vitest'
import { findHeldProject } from '../../../src/cli/wiring/held-projects.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { coreFiles, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

it('says in plain words why a project is held, since when and how to fix it, and that none is', async () => {
  const { store, url } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  const publisher = await testPublisher(store, coreFiles)
  const publishAt = async (day: number, title: string) => {
    await store.db.query('update project set title = $1 where id = 2', [title])
    publisher.now = new Date(Date.UTC(2026, 10, day, 2))
    await publisher.publish()
  }
  const spoilt = '<p></p>'
  await publishAt(21, 'Wells')
  const run = (...args: string[]) => runCommandLine(['held', ...args], { DATABASE_URL: url })
  expect(await run()).toMatchObject({ code: 0 })
  await publishAt(22, spoilt)
  await publishAt(23, '<b></b>')
  const { code, stdout } = await run()
  expect(code).toBe(1)
  expect(stdout).not.toContain(' more: ')
  expect(stdout).toMatch(
    /^2 .*-2: its last valid text stays published, held since 2026-11-22T02:00:00Z\n {2}[\w-]+ {2}.*\n {4}\/iati-activity: .* title .*\n {4}Correct projects\.title, .* then run giving publish\./,
  )
  expect(JSON.parse((await run('2', '--json')).stdout)).toMatchObject({
    count: 1,
    projects: [{ projectId: 2, since: '2026-11-22T02:00:00.000Z' }],
  })
  expect(await run('1')).toMatchObject({ code: 2 })
  await publishAt(24, 'Deeper wells')
  expect(await findHeldProject(store.db, 2)).toBeUndefined()
  await publishAt(25, spoilt)
  const again = await findHeldProject(store.db, 2)
  expect(again?.since).toEqual(publisher.now)
  expect(again?.notices[0]?.fields).toEqual(['projects.title'])
})

it('says how many more there are than --limit shows', async () => {
  const { store, url } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }, { id: 3 }])
  await store.db.query(`update project set title = '<p></p>'`)
  await (await testPublisher(store, coreFiles)).publish()
  const shown = async (limit: string) =>
    (await runCommandLine(['held', '--limit', limit], { DATABASE_URL: url })).stdout
      .split('\n')
      .filter((line) => /^\d/.test(line))
  expect(await shown('2')).toEqual([expect.stringMatching(/^1 /), expect.stringMatching(/^2 /), '1 more: see --limit'])
  expect(await shown('3')).toHaveLength(3)
})

it('is not said of a project that is published all the same: giving projects names it, and what is noticed about it', async () => {
  const { store, url } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  await store.db.query(`update project set deadline = '9999-12-31' where id = 2`)
  await (await testPublisher(store, coreFiles)).publish()
  const run = async (...args: string[]) => (await runCommandLine(['projects', ...args], { DATABASE_URL: url })).stdout
  expect(await run('show', '2')).toMatch(
    /^deadline-unusable {2}The deadline lies before .* was left out\. \(deadline: expected .*, got 9999-12-31\)$/m,
  )
  expect(await run('show', '1')).not.toContain('deadline')
  expect(JSON.parse(await run('list', '--notice', 'deadline-unusable', '--json'))).toMatchObject({
    projects: [{ id: 2 }],
  })
})
