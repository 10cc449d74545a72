import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import { deactivateMirrored } from '../../../src/catalogue/sql/upstream-projects.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { insertOrganisation, insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { store, url } = await testDatabase()
const folder = await temporaryFolder()
const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
await insertOrganisation(store.db, 1)
await insertOrganisation(store.db, 2)
await insertProjects(
  store.db,
  Array.from({ length: 2500 }, (_, n) => ({ id: n + 1, active: n % 2 === 0, organisationId: (n % 2) + 1 })),
)

const giving = (line: string) => printed(line, environment)

const clean = () => store.db.query('update project_version set dirty = false')

async function stale(): Promise<number[]> {
  const { rows } = await store.db.query<{ id: number }>(
    'select project_id as id from project_version where dirty order by 1',
  )
  return rows.map(({ id }) => id)
}

async function stateOf(id: number): Promise<object | undefined> {
  const { rows } = await store.db.query<object>('select active, status from project where id = $1', [id])
  return rows[0]
}

async function importPage(...records: readonly object[]): Promise<Record<string, unknown>> {
  const file = path.join(folder, 'page.json')
  await writeFile(file, JSON.stringify({ projects: { project: records } }))
  return await giving(`import ${file}`)
}

const record = (id: number, fields: object = {}) => ({
  ...{ id, active: true, status: 'active', title: `Record ${id}`, funding: '1.00', numberOfDonations: 1 },
  ...fields,
})

describe('projects and organizations that operators decide on', { shuffle: false }, () => {
  describe('giving projects', () => {
    it('lists them all, page by page, and those that are asked for', async () => {
      const { projects } = (await giving('projects list')) as { projects: { id: number }[] }
      expect(projects.map(({ id }) => id)).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1))
      expect(await giving('projects list --state retired --after 2490 --organization 2')).toEqual({
        projects: [2492, 2494, 2496, 2498, 2500].map((id) => ({
          ...{ id, title: `Project ${id}`, state: 'retired', decided: false, source: 'local', organizationId: 2 },
        })),
      })
      expect(await giving('projects list --state inactive')).toEqual({ projects: [] })
      const { stdout } = await runCommandLine(['projects', 'list', '--limit', '2'], environment)
      expect(stdout).toMatch(/^1 {2}active +local +Project 1\n2 {2}retired +local +Project 2\n$/)
    })

    it('sets a state, marks the project, and says who did it; the same again changes nothing', async () => {
      await clean()
      expect(await giving('projects set 3 --state inactive')).toMatchObject({
        state: 'inactive',
        decided: true,
        stale: true,
      })
      expect(await stateOf(3)).toEqual({ active: false, status: 'active' })
      expect(await stale()).toEqual([3])
      await clean()
      await giving('projects set 3 --state inactive')
      expect(await stale()).toEqual([])
      await giving('projects set 3 --state retired')
      expect(await stateOf(3)).toEqual({ active: false, status: 'retired' })
      await giving('projects set 3 --state active')
      expect(await stateOf(3)).toEqual({ active: true, status: 'active' })
      expect(await giving('projects show 3')).toMatchObject({
        id: 3,
        state: 'active',
        decided: true,
        organizationName: 'Organisation 1',
      })

      const trail = await listAudit(store.db, { since: new Date(0), limit: 100 })
      const by = { action: 'project-state-changed', actor: `operator ${userInfo().username}`, subject: 'project 3' }
      expect(trail).toMatchObject([
        { ...by, details: { before: 'active', state: 'inactive' } },
        { ...by, details: { before: 'inactive (decided)', state: 'retired' } },
        { ...by, details: { before: 'retired (decided)', state: 'active' } },
      ])
    })

    it('leaves a funded project funded while it is taken off the site', async () => {
      await store.db.query("update project set status = 'funded' where id = 5")
      await giving('projects set 5 --state inactive')
      expect(await stateOf(5)).toEqual({ active: false, status: 'funded' })
    })

    it('refuses what it does not know', async () => {
      const refused = async (line: string) => (await runCommandLine(line.split(' '), environment)).stderr
      expect(await refused('projects show 9999')).toBe('giving: there is no project 9999\n')
      expect(await refused('projects set 9999 --state active')).toBe('giving: there is no project 9999\n')
      expect(await refused('projects set 1 --state gone')).toContain(
        'Allowed choices are active, inactive, retired, stated.',
      )
      expect(await refused('organizations set 9999 --vetted yes')).toBe('giving: there is no organisation 9999\n')
    })
  })

  describe('a record of a project whose state an operator has decided on', () => {
    it('changes everything but the state, and the import says so', async () => {
      expect(await importPage(record(9001), record(9002))).toMatchObject({ created: 2, kept: 0 })
      await giving('projects set 9001 --state inactive')
      const changed = record(9001, { title: 'Another title' })
      expect(await importPage(changed, record(9002, { title: 'Other' }))).toMatchObject({
        ...{ changed: 2, refused: 0, kept: 1 },
        problems: [
          {
            recordId: '9001',
            field: 'active',
            expected: expect.stringContaining('an operator has decided'),
            got: 'active',
          },
        ],
      })
      expect(await giving('projects show 9001')).toMatchObject({
        title: 'Another title',
        state: 'inactive',
        decided: true,
      })

      await giving('projects set 9001 --state stated')
      expect(await importPage(changed)).toMatchObject({ changed: 1, kept: 0 })
      expect(await giving('projects show 9001')).toMatchObject({ state: 'active', decided: false })
    })

    it('is taken over whole when it agrees with the operator', async () => {
      await importPage(record(9003, { active: false }))
      await giving('projects set 9003 --state active')
      expect(await importPage(record(9003, { status: 'funded' }))).toMatchObject({ changed: 1, kept: 0 })
      expect(await stateOf(9003)).toEqual({ active: true, status: 'funded' })
    })

    it('stays active when the upstream no longer has it', async () => {
      await importPage(record(9004), record(9005))
      await store.db.query("update project set source = 'upstream' where id in (9004, 9005)")
      await giving('projects set 9004 --state active')
      expect(await store.transaction((db) => deactivateMirrored(db, [9004, 9005]))).toBe(1)
      expect(await stateOf(9004)).toEqual({ active: true, status: 'active' })
      expect(await stateOf(9005)).toEqual({ active: false, status: 'retired' })
    })
  })

  describe('giving organizations', () => {
    it('lists, shows and vets them, and says who did it', async () => {
      await clean()
      expect(await giving('organizations set 2 --vetted no')).toMatchObject({ id: 2, vetted: false, projects: 1250 })
      expect(await stale()).toHaveLength(1250)
      await clean()
      await giving('organizations set 2 --vetted no')
      expect(await stale()).toEqual([])
      expect(await giving('organizations list --vetted no')).toEqual({
        organizations: [
          { id: 2, name: 'Organisation 2', vetted: false, source: 'local', projects: 1250, activeProjects: 0 },
        ],
      })
      expect(await giving('organizations show 1')).toMatchObject({ id: 1, vetted: true, activeProjects: 1249 })
      const trail = await listAudit(store.db, { since: new Date(0), limit: 100 })
      expect(trail.filter(({ action }) => action === 'vetting-changed')).toMatchObject([
        { subject: 'organization 2', actor: `operator ${userInfo().username}`, details: { vetted: false } },
      ])
    })
  })
})
