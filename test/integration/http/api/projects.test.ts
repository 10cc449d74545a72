import { describe, expect, it } from 'vitest'
import { testApi } from '../../../support/api/api.js'
import { insertOrganisation, insertProjects } from '../../../support/store/catalogue.js'
import { testDatabase } from '../../../support/store/database.js'

const listPath = '/api/public/projectservice/all/projects'
const idsPath = '/api/public/projectservice/projects/collection/ids'

type Page = { hasNext?: true; nextProjectId?: number; numberFound: number; project?: { id: number; title: string }[] }

describe('project reads', async () => {
  const { store } = await testDatabase()

  const get = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    app.inject({ url: `${path}?${new URLSearchParams({ api_key: key, ...query })}`, headers })
  const page = async (path: string, query: Record<string, string> = {}): Promise<Page> =>
    (await get(path, query, { accept: 'application/json' })).json().projects

  const { app, apiKey: key } = await testApi(store)
  await insertOrganisation(store.db, 318)
  const ids = Array.from({ length: 37 }, (_, index) => 2 + index * 3)
  await insertProjects(
    store.db,
    ids.map((id) => ({ id, active: id % 2 === 0, organisationId: 318 })),
  )

  describe('the list', () => {
    it('shows each project once to a client that follows nextProjectId, inactive ones included', async () => {
      const seen: number[] = []
      let next: number | undefined
      do {
        const answer = await page(listPath, next === undefined ? {} : { nextProjectId: String(next) })
        expect(answer.numberFound).toBe(37)
        seen.push(...(answer.project ?? []).map(({ id }) => id))
        if (answer.hasNext !== undefined) expect(answer.hasNext).toBe(true)
        expect(answer.hasNext === undefined).toBe(answer.nextProjectId === undefined)
        next = answer.nextProjectId
      } while (next !== undefined)
      expect(seen).toEqual(Array.from({ length: 37 }, (_, index) => 2 + index * 3))
    })

    it('begins at the first id that is not below nextProjectId, which need not exist', async () => {
      expect((await page(listPath, { nextProjectId: '6' })).project?.[0]?.id).toBe(8)
      expect((await page(listPath, { nextProjectId: '' })).project?.[0]?.id).toBe(2)
    })

    it.each(['100000', '99999999999999999999999'])('is empty beyond the last id (%s)', async (nextProjectId) => {
      expect(await page(listPath, { nextProjectId })).toEqual({ project: [], numberFound: 37 })
    })

    it.each(['-1', 'x', '1.5', '0x10', '1e3', '1\0'])('refuses the cursor %j', async (nextProjectId) => {
      const answer = await get(listPath, { nextProjectId })
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain('nextProjectId')
    })

    it('uses the last of several cursors', async () => {
      const answer = await get(`${listPath}.json`, {}, {})
      expect(answer.statusCode).toBe(200)
      const repeated = await app.inject(`${listPath}.json?api_key=${key}&nextProjectId=2&nextProjectId=20`)
      expect(repeated.json().projects.project[0].id).toBe(20)
    })

    it('takes 100 parameters, those that it does not know too, and refuses 101 for any origin', async () => {
      const more = (count: number) => Array.from({ length: count }, (_, at) => `p${at}=`).join('&')
      const answer = await app.inject(`${listPath}.json?${more(98)}&api_key=${key}&nextProjectId=20`)
      expect(answer.json().projects.project[0].id).toBe(20)
      const refused = await app.inject(`${listPath}.json?${more(99)}&api_key=${key}&nextProjectId=20`)
      expect(refused.statusCode).toBe(400)
      expect(refused.body).toContain('the query has more than 100 parameters')
      expect(refused.headers['access-control-allow-origin']).toBe('*')
    })
  })

  describe('stored records', () => {
    const stored = async (id: number) =>
      (await store.db.query('select version from wire_record where project_id = $1', [id])).rows[0]

    it('are kept when first read, and never served stale', async () => {
      await page(idsPath, { projectIds: '2' })
      const first = await stored(2)
      expect(first).toBeDefined()
      await store.db.query(`update project set title = 'Renamed' where id = 2`)
      expect((await page(idsPath, { projectIds: '2' })).project?.[0]?.title).toBe('Renamed')
      expect(await stored(2)).not.toEqual(first)
    })

    it('are what is served: the text of the current version is sent as it is', async () => {
      await page(idsPath, { projectIds: '8' })
      await store.db.query(`update wire_record set json = replace(json, 'Project 8', 'ready') where project_id = 8`)
      expect((await page(idsPath, { projectIds: '8' })).project?.[0]?.title).toBe('ready')
    })

    it('of an older mapping are written again', async () => {
      await store.db.query(`update wire_record set json = '{}', mapping = 0 where project_id = 8`)
      expect((await page(idsPath, { projectIds: '8' })).project?.[0]?.title).toBe('Project 8')
    })

    it('follow the counts of their organisation when a sibling changes', async () => {
      const counts = async () => {
        const answer = await get(`${idsPath}.json`, { projectIds: '14' })
        const { totalProjects, activeProjects } = answer.json().projects.project[0].organization
        return { totalProjects, activeProjects }
      }
      const before = await counts()
      await store.db.query('update project set active = false where id = 20')
      expect(await counts()).toEqual({ ...before, activeProjects: before.activeProjects - 1 })
      await insertProjects(store.db, [{ id: 500, organisationId: 318 }])
      expect((await counts()).totalProjects).toBe(before.totalProjects + 1)
      await store.db.query('delete from project where id = 500')
      await store.db.query('update project set active = true where id = 20')
      expect(await counts()).toEqual(before)
    })
  })

  describe('the collection by ids', () => {
    it('keeps the order of the request, each project once, without paging', async () => {
      const answer = await page(idsPath, { projectIds: '26, 2,26 ,8' })
      expect(answer).toMatchObject({ numberFound: 3 })
      expect(answer.project?.map(({ id }) => id)).toEqual([26, 2, 8])
      expect(Object.keys(answer)).toEqual(['project', 'numberFound'])
    })

    it('skips unknown and inactive projects', async () => {
      const answer = await page(idsPath, { projectIds: '2,5,999' })
      expect(answer.project?.map(({ id }) => id)).toEqual([2])
    })

    it('looks at the first ten ids', async () => {
      const answer = await page(idsPath, { projectIds: '2,991,992,993,994,995,996,997,998,999,8' })
      expect(answer.project?.map(({ id }) => id)).toEqual([2])
    })

    it.each([
      ['every project asked for is inactive', '5,11', 410, 'Gone'],
      ['one asked for is inactive', '5', 410, 'Gone'],
      ['none is known', '998,999', 404, 'Not Found'],
      ['an inactive and an unknown one are asked for', '5,999', 404, 'Not Found'],
      ['an id is no number', '2,x', 400, 'Bad Request'],
      ['an id is negative', '-2', 400, 'Bad Request'],
      ['there are only commas', ',,', 400, 'Bad Request'],
    ])('answers, when %s, %s with %i', async (_case, projectIds, status, phrase) => {
      const answer = await get(`${idsPath}.json`, { projectIds })
      expect(answer.statusCode).toBe(status)
      expect(answer.json().error_response).toMatchObject({ error_code: status, status: phrase })
    })

    it('names the parameter that is missing', async () => {
      const answer = await get(idsPath)
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain('projectIds')
    })
  })

  describe('the key', () => {
    it.each([
      ['missing', '', 'the query parameter api_key or the header X-Api-Key is missing'],
      ['empty', '?api_key=', 'the query parameter api_key or the header X-Api-Key is missing'],
      ['unknown', '?api_key=%3Cno%26such%3E', 'api_key &lt;no&amp;such&gt; is not registered'],
    ])('when it is %s, is answered with 401', async (_case, query, message) => {
      const answer = await app.inject(listPath + query)
      expect(answer.statusCode).toBe(401)
      const number = _case === 'unknown' ? '' : '<error_number>101</error_number>'
      expect(answer.body).toContain(`<error_message>${message}</error_message>${number}</error>`)
      expect(answer.body).toContain('<status>Unauthorized</status>')
    })

    it('is checked before anything else of the request', async () => {
      expect((await app.inject(`${idsPath}?projectIds=x`)).statusCode).toBe(401)
    })

    it('may be written in capitals', async () => {
      expect((await get(listPath, { api_key: key.toUpperCase() })).statusCode).toBe(200)
    })
  })
})
