import { expect, it } from 'vitest'
import { insertProjects } from '../support/catalogue.js'
import { runCommandLine } from '../support/command-line.js'
import { testDatabase } from '../support/database.js'
import { testPublisher } from '../support/publishing.js'

it('says in plain words why a project is held, and that none is', async () => {
  const { store, url } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  const publisher = await testPublisher(store)
  await publisher.publish()
  const run = (...args: string[]) => runCommandLine(['held', ...args], { DATABASE_URL: url })
  expect(await run()).toMatchObject({ code: 0 })
  await store.db.query(`update rendering set verdict = 'held', notices = $1::jsonb where project_id = 2`, [
    JSON.stringify([
      { code: 'element-unknown', severity: 'error', subject: 'x', path: '/iati-activity/x', detail: 'expected no x' },
    ]),
  ])
  const { code, stdout } = await run()
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^2 .*-2: its last valid text stays published\n {2}element-unknown {2}An element is not one .*\n {4}\/iati-activity\/x: expected no x/,
  )
  expect(JSON.parse((await run('2', '--json')).stdout)).toMatchObject({ count: 1, projects: [{ projectId: 2 }] })
  expect(await run('1')).toMatchObject({ code: 2 })
})
