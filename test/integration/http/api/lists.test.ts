import { beforeAll, describe, expect, it, vi } from 'vitest'
import { refreshSearchDocuments } from '../../../../src/catalogue/sql/ready-texts/project-search.js'
import { searchable } from '../../../../src/extensions/portal/text-index.js'
import { createApi } from '../../../../src/http/api/create-api.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import type { Db } from '../../../../src/platform/database/connection.js'
import type { Store } from '../../../../src/platform/database/store.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { type TestApi, testApi } from '../../../support/api/api.js'
import { readRequests } from '../../../support/api/read-operations.js'
import { insertOrganisation, insertProjects } from '../../../support/store/catalogue.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const projects = '/api/public/projectservice'
const organizations = '/api/public/orgservice'

type Projects = {
  hasNext?: true
  nextProjectId?: number
  numberFound: number
  project?: { id: number; title: string }[]
}

describe('reads', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()

  const get = (path: string, query: Record<string, string> = {}, { app, apiKey } = api) =>
    app.inject({
      url: `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ api_key: apiKey, ...query })}`,
      headers: { accept: 'application/json' },
    })
  const list = async (path: string, query: Record<string, string> = {}): Promise<Projects> =>
    (await get(path, query)).json().projects
  const ids = (page: Projects) => (page.project ?? []).map(({ id }) => id)

  const api = await testApi(store)
  const app = api.app
  await storeWells(store.db)

  describe('of what is not there', () => {
    it.each([
      ['an inactive project', `${projects}/projects/2046`, 410],
      ['an inactive project in short', `${projects}/projects/2046/summary`, 410],
      ['pictures of an inactive project', `${projects}/projects/2046/imagegallery`, 410],
      ['reports of an inactive project', `${projects}/projects/2046/reports`, 410],
      ['an unknown project', `${projects}/projects/999`, 404],
      ['a project id beyond all numbers', `${projects}/projects/99999999999999999999999`, 404],
      ['pictures of an unknown project', `${projects}/projects/999/imagegallery`, 404],
      ['reports of an unknown project', `${projects}/projects/999/reports`, 404],
      ['an id that is no number', `${projects}/projects/wells`, 400],
      ['an unknown theme', `${projects}/themes/nope/projects`, 404],
      ['an unknown organisation', `${projects}/organizations/7/projects`, 404],
      ['an organisation id that is no number', `${projects}/organizations/x/projects`, 400],
      ['a country code of three letters', `${projects}/countries/SLE/projects`, 400],
      ['an unknown region', `${projects}/regions/Atlantis/countries/projects/count`, 404],
      ['an address below regions', `${projects}/regions/Africa/nonsense`, 404],
      ['an organisation', `${organizations}/organization/7`, 404],
      ['a bridge id', `${organizations}/organization/bridge/7`, 404],
      ['a bridge id beyond 64 bits', `${organizations}/organization/bridge/9223372036854775808`, 404],
      ['campaigns', `${projects}/campaign/5/projects`, 404],
      ['an unknown theme of organisations', `${organizations}/all/organizations?theme=nope`, 404],
      ['a theme with NUL', `${projects}/themes/a%00b/projects`, 400],
      ['bulk files that were never built', `${projects}/all/projects/download`, 503],
      ['a bulk file of an invented address', `/feeds/bulk/${'0'.repeat(40)}/projects.xml`, 404],
    ])('answers for %s with %s: %i', async (_what, path, status) => {
      const answer = await get(path)
      expect(answer.statusCode).toBe(status)
      if (path.startsWith('/api/')) expect(answer.json().error_response.error_code).toBe(status)
    })

    it('answers for downloads with 404 where they are left out', async () => {
      await using app = await createApi([], api.deps)
      expect((await get(`${projects}/all/projects/download`, {}, { ...api, app })).statusCode).toBe(404)
    })

    const beyond = '99999999999999999999'
    it.each([
      `${projects}/projects/${beyond}`,
      `${projects}/projects/${beyond}/summary`,
      `${projects}/projects/${beyond}/imagegallery`,
      `${projects}/projects/${beyond}/reports`,
      `${projects}/projects/collection/ids?projectIds=0${beyond}`,
      `${projects}/organizations/${beyond}/projects`,
      `${organizations}/organization/${beyond}`,
      `${organizations}/organization/bridge/${beyond}`,
    ])('names an id as it was sent, however large: %s', async (path) => {
      const answer = await get(path)
      expect(answer.statusCode).toBe(404)
      expect(answer.json().error_response.errors.error[0].error_message).toMatch(/[a-z] 99999999999999999999$/)
    })

    it('lists nothing, without 404, for a country without projects', async () => {
      expect(await list(`${projects}/countries/zz/projects`)).toEqual({ project: [], numberFound: 0 })
    })

    it.each([
      ['limit', '0'],
      ['limit', 'ten'],
      ['modifiedSince', 'yesterday'],
      ['modifiedSince', '2026-11-21'],
      ['nextProjectId', '-1'],
    ])('refuses %s=%s', async (name, value) => {
      const answer = await get(`${projects}/all/projects`, { [name]: value })
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain(name)
    })

    it('ignores parameters that clients invent', async () => {
      const answer = await get(`${projects}/all/projects`, { v: '2', pageNumber: '3', theme: 'x', country: 'Mars' })
      expect(answer.statusCode).toBe(200)
    })
  })

  describe('regions', () => {
    it.each(['South/Central America and the Caribbean', 'South%2FCentral%20America%20and%20the%20Caribbean'])(
      'may have a slash in their name (%s)',
      async (name) => {
        for (const active of ['', '/active']) {
          const path = `${projects}/regions/${name.replaceAll(' ', '%20')}/countries/projects${active}/count`
          expect((await get(path)).json().regions.region).toEqual([
            {
              name: 'South/Central America and the Caribbean',
              countries: { country: [{ name: 'Peru', iso3166CountryCode: 'PE', projectCount: 1 }] },
            },
          ])
        }
      },
    )

    it('count inactive projects unless asked not to', async () => {
      const count = async (active: string) =>
        (await get(`${projects}/regions/Africa/countries/projects${active}/count`)).json().regions.region[0].countries
          .country[0].projectCount
      expect(await count('')).toBe(2)
      expect(await count('/active')).toBe(1)
    })
  })

  describe('search', () => {
    const search = async (query: Record<string, string>) =>
      (await get('/api/public/services/search/projects', query)).json().search

    it.each([
      ['a word of the title, in another form', 'well', [2045]],
      ['a word of the need', 'stream', [2045]],
      ['a word of the activities', 'caretakers', [2045]],
      ['the organisation', 'escuela', [2061]],
      ['the country', 'peru', [2061]],
      ['words that are in different fields', 'library peru', [2061]],
      ['everything', '*', [2045, 2061]],
      ['an inactive project', 'tanks', []],
      ['signs that mean something to parsers', `'"\\:&|!()<->*`, []],
    ])('finds %s', async (_what, q, found) => {
      const { response } = await search({ q })
      expect(response.numberFound).toBe(found.length)
      expect((response.projects?.project ?? []).map(({ id }: { id: number }) => id)).toEqual(found)
      if (found.length === 0) expect(response).not.toHaveProperty('projects')
    })

    it('folds words as the portal does, in what an earlier version made too', async () => {
      const ids = async (q: string) => {
        const { response } = await search({ q })
        return ((response.projects?.project ?? []) as { id: number }[]).map(({ id }) => id)
      }
      await insertProjects(store.db, [
        { id: 502, title: 'Women’s École “Ágora” in Łódź, ÆGIR, ΑΘΗΝΑ, МОСКВА, مدرسة أمل' },
      ])
      const asked = [
        "Women's",
        'Women’s',
        'women',
        'womens',
        'ecole',
        'École',
        'ÉCOLE',
        'agora',
        'lodz',
        'Łódź',
        'aegir',
        'Αθήνα',
        'москва',
        'مدرسه',
        'ٱمل',
      ]
      for (const q of [...asked, '"women\'s ecole"', '“Women’s École”', 'ecole -tanks']) {
        expect({ q, ids: await ids(q) }).toEqual({ q, ids: [502] })
      }
      expect(await ids('agora -école')).toEqual([])
      for (const text of [
        ...asked,
        'Straße',
        'Đồng',
        'œuvre – l’été…',
        'İzmir',
        'كِتَاب',
        'والمياه للأطفال، الله',
        '½ Ｆｕｌｌ',
      ]) {
        const { rows } = await store.db.query<{ folded: string }>('select fold_search($1) as folded', [text])
        expect(rows[0]?.folded.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()).toBe(searchable(text))
      }
      const old = `to_tsvector('english', 'Women’s École')`
      await store.db.query(`update project_search set document = ${old}, folded = false where project_id = 502`)
      expect([await ids('ecole'), await ids('École')]).toEqual([[], [502]])
      expect(await refreshSearchDocuments(store.db)).toBe(1)
      expect(await ids('ecole')).toEqual([502])
      expect(await refreshSearchDocuments(store.db)).toBe(0)
      await store.db.query('delete from project where id = 502')
    })

    it('finds what is written without blanks, with an article before an apostrophe, and with letters of a neighbour', async () => {
      const titles = {
        503: '为农村儿童提供清洁饮用水, 图书馆',
        504: '東日本大震災の子どもたちにガッコウを NPO法人みらい',
        505: 'น้ำสะอาดสำหรับเด็ก',
        506: 'Alimentation d’eau à Bô, O’Brien-Smith',
        507: 'مستشفى یزد کودکان, τα παιδιά της Αθήνας, حفر الآبار والمياه',
      }
      await insertProjects(
        store.db,
        Object.entries(titles).map(([id, title]) => ({ id: Number(id), title })),
      )
      const asked: [id: number | undefined, searches: readonly string[]][] = [
        [503, ['饮用水', '农村', '水', '饮用水 农村', '农村儿童', "-l'eau 饮"]],
        [504, ['大震災', 'ガッコウ', 'ｶﾞｯｺｳ', 'NPO', '"子どもたち"']],
        [505, ['เด็ก']],
        [506, ["l'eau", 'l’eau', "O'Brien", '"l’eau à Bô"']],
        [507, ['مستشفي', 'يزد', 'كودكان', 'ΑΘΗΝΑΣ', 'آبار', 'مياه', 'المياه', '"حفر ابار"']],
        [undefined, ['水饮', '农儿', '震大']],
      ]
      for (const [id, searches] of asked) {
        for (const q of searches) {
          const { response } = await search({ q })
          const records = (response.projects?.project ?? []) as { id: number }[]
          expect({ q, found: records.map((one) => one.id) }).toEqual({ q, found: id === undefined ? [] : [id] })
        }
      }
      await store.db.query('delete from project where id between 503 and 507')
    })

    it.each([
      [',country:SL', [2045]],
      ['country=pe,theme=edu,', [2061]],
      ['theme:edu,theme:water', [2045, 2061]],
      ['banana', [2045, 2061]],
      ['country:SL,,theme:edu', []],
      ['colour:red', [2045, 2061]],
    ])('filters by %s', async (filter, found) => {
      const { response } = await search({ q: '*', filter })
      expect((response.projects?.project ?? []).map(({ id }: { id: number }) => id)).toEqual(found)
    })

    it('pages by record offset', async () => {
      const { response } = await search({ q: '*', start: '1' })
      expect(response).toMatchObject({ start: 1, numberFound: 2, projects: { project: [{ id: 2061 }] } })
      expect((await search({ q: '*', start: '50' })).response).toEqual({ start: 50, numberFound: 2 })
    })

    it('puts a title that has the word before a text that mentions it', async () => {
      await insertProjects(store.db, [
        { id: 3001, title: 'About pumps' },
        { id: 3002, title: 'Zebra' },
      ])
      await store.db.query(`update project set need = 'A zebra crossing' where id = 3001`)
      const { response } = await search({ q: 'zebra' })
      expect(response.projects.project.map(({ id }: { id: number }) => id)).toEqual([3002, 3001])
      await store.db.query('delete from project where id in (3001, 3002)')
      expect((await search({ q: 'zebra' })).response.numberFound).toBe(0)
    })

    it('follows the names of organisations and the state of projects', async () => {
      await store.db.query(`update organisation set name = 'Quinoa Libre' where id = 319`)
      expect((await search({ q: 'quinoa' })).response.numberFound).toBe(1)
      await store.db.query('update project set active = false where id = 2061')
      expect((await search({ q: 'quinoa' })).response.numberFound).toBe(0)
      await store.db.query('update project set active = true where id = 2061')
      await store.db.query(`update organisation set name = 'Escuela & Campo' where id = 319`)
      expect((await search({ q: 'quinoa' })).response.numberFound).toBe(0)
    })

    it.each([[{}], [{ q: '' }], [{ q: '*', start: '-1' }], [{ q: 'a\0b' }]])('refuses %j', async (query) => {
      const answer = await get('/api/public/services/search/projects', query as Record<string, string>)
      expect(answer.statusCode).toBe(400)
    })
  })

  describe('what changed since', () => {
    const since = async (path: string, modifiedSince: string) => await get(path, { modifiedSince })

    it('names projects whose record changed for any reason, and no others', async () => {
      const [{ now } = { now: new Date() }] = (await store.db.query<{ now: Date }>('select clock_timestamp() as now'))
        .rows
      // An instant has the precision of a second.
      const later = new Date(now.getTime() + 2_000).toISOString()
      const changed = async () => ids(await list(`${projects}/all/projects`, { modifiedSince: later }))
      await store.db.query(`update project_version set changed_at = $1::timestamptz - interval '1 day'`, [now])
      expect(await changed()).toEqual([])
      const move = (at: string) =>
        store.db.query('update project_version set changed_at = $1 where project_id = 2045', [at])
      await move(later)
      expect(await changed()).toEqual([2045])
      expect((await list(`${projects}/all/projects/ids`, { modifiedSince: later })).project).toEqual([{ id: 2045 }])
      const long = (query: Record<string, string>) => list(`${projects}/all/projects/ids`, query)
      const together = await Promise.all([{}, { modifiedSince: later }, {}, { modifiedSince: later }].map(long))
      expect(together.map((one) => ids(one).length)).toEqual([3, 1, 3, 1])
      expect((await list(`${projects}/themes/edu/projects`, { modifiedSince: later })).numberFound).toBe(0)
    })

    it.each([
      ['its own title', `update project set title = title || '.' where id = 2045`],
      ['money', `update project set funding = funding + 1 where id = 2045`],
      ['a picture', `update photo set title = 'X' where project_id = 2045 and position = 1`],
      ['its organisation', `update organisation set mission = 'Water!' where id = 318`],
      ['the name of a theme', `update theme set name = 'Water' where id = 'water'`],
      ['a sibling that becomes active', `update project set active = not active where id = 2046`],
    ])('includes a project after a change of %s', async (_what, change) => {
      await store.db.query(`update project_version set changed_at = now() - interval '1 day'`)
      await store.db.query(change)
      const answer = await since(`${projects}/all/projects`, new Date(Date.now() - 3_600_000).toISOString())
      expect(ids(answer.json().projects)).toContain(2045)
      expect(ids(answer.json().projects)).not.toContain(2061)
    })

    it.each([
      ['its own row', `update organisation set mission = 'Agua' where id = 319`],
      ['what it works on', `insert into organisation_theme values (319, 0, 'edu')`],
      ['the name of a country', `update country set name = 'Perú' where code = 'PE'`],
      ['the number of its active projects', `update project set active = false where id = 2061`],
      [
        'a new project',
        `insert into project (id, organisation_id, active, status, title, source)
        values (4000, 319, true, 'active', 'New', 'local')`,
      ],
    ])('includes an organisation after a change of %s', async (_what, change) => {
      await store.db.query(`update organisation_version set changed_at = now() - interval '1 day'`)
      await store.db.query(change)
      const answer = await since(`${organizations}/all/organizations`, new Date(Date.now() - 3_600_000).toISOString())
      expect(answer.json().organizations.organization.map(({ id }: { id: number }) => id)).toEqual([319])
      const record = (await get(`${organizations}/organization/319`)).json().organization
      expect(record).toEqual(answer.json().organizations.organization[0])
    })

    const waiting = { interval: 50 }

    it('tells up to when everything is shown, so that a transaction that commits late is not missed', async () => {
      const other = openStore({ url, max: 1, applicationName: 'a slow writer' })
      const path = `${projects}/all/projects`
      await store.db.query(`update project_version set changed_at = now() - interval '1 day'`)
      const modifiedSince = new Date(Date.now() - 3_600_000).toISOString()
      const started: Date[] = []
      await other.transaction(async (db) => {
        const { rows } = await db.query<{ now: Date }>('select now() as now')
        if (rows[0]) started.push(rows[0].now)
        await db.query(`update project set title = 'Late' where id = 2045`)
        // Writers of the cluster's other databases count too, and other tests write: the header may be left out.
        await vi.waitFor(async () => {
          const poll = await since(path, modifiedSince)
          expect(ids(poll.json().projects)).not.toContain(2045)
          const until = new Date(String(poll.headers['x-modified-until']))
          expect(until.getTime()).toBeLessThanOrEqual((started[0] as Date).getTime())
        }, waiting)
      })
      await other.close()
      await vi.waitFor(async () => {
        const next = await since(path, (started[0] as Date).toISOString())
        expect(ids(next.json().projects)).toContain(2045)
        const until = new Date(String(next.headers['x-modified-until']))
        expect(until.getTime()).toBeGreaterThan((started[0] as Date).getTime())
      }, waiting)
    })

    it('reads an offset whose plus sign was not encoded', async () => {
      const answer = await app.inject(
        `${projects}/all/projects?api_key=${api.apiKey}&modifiedSince=2026-01-01T00:00:00+05:30`,
      )
      expect(answer.statusCode).toBe(200)
    })
  })

  describe('organisations', () => {
    const page = async (path: string, query: Record<string, string> = {}) =>
      (await get(`${organizations}/all/organizations${path}`, query)).json().organizations

    it('come in pages of ten without numberFound, each once', async () => {
      for (let id = 5000; id < 5025; id++) await insertOrganisation(store.db, id)
      const seen: number[] = []
      for (let next: string | undefined = '1'; next !== undefined; ) {
        const answer = await page('', { nextOrgId: next })
        expect(answer).not.toHaveProperty('numberFound')
        seen.push(...answer.organization.map(({ id }: { id: number }) => id))
        expect(answer.hasNext).toBe(answer.nextOrgId === undefined ? undefined : true)
        next = answer.nextOrgId === undefined ? undefined : String(answer.nextOrgId)
      }
      expect(seen).toEqual([318, 319, ...Array.from({ length: 25 }, (_, index) => 5000 + index)])
      expect((await page('', { limit: '100' })).organization.length).toBe(27)
      await store.db.query('delete from organisation where id >= 5000')
    })

    it('are filtered by theme and country', async () => {
      expect((await page('/vetted', { theme: 'water' })).organization.map(({ id }: { id: number }) => id)).toEqual([
        318,
      ])
      expect(await page('/vetted', { theme: 'edu' })).toEqual({ organization: [] })
      expect((await page('', { country: 'pe' })).organization.map(({ id }: { id: number }) => id)).toEqual([319])
      expect((await get(`${organizations}/all/organizations`, { country: 'Peru' })).statusCode).toBe(400)
    })
  })

  describe('limit', () => {
    it('makes pages larger, up to 100', async () => {
      await insertProjects(
        store.db,
        Array.from({ length: 150 }, (_, index) => ({ id: 10_000 + index })),
      )
      expect((await list(`${projects}/all/projects`)).project?.length).toBe(10)
      expect((await list(`${projects}/all/projects`, { limit: '37' })).project?.length).toBe(37)
      const most = await list(`${projects}/all/projects`, { limit: '5000', nextProjectId: '10000' })
      expect([most.project?.length, most.nextProjectId]).toEqual([100, 10_100])
    })
  })

  describe('organisations with active projects', () => {
    it('are those that have one here, whatever number their source states', async () => {
      const { store } = await testDatabase()
      const fresh = await testApi(store)
      const read = async (path: string) =>
        (await fresh.app.inject({ url: `${organizations}/${path}.json?api_key=${fresh.apiKey}` })).json()
      const active = async () =>
        ((await read('all/organizations/active')).organizations.organization ?? []).map(({ id }: { id: number }) => id)
      const stated = async () => (await read('organization/77')).organization.activeProjects
      await insertOrganisation(store.db, 77)
      await store.db.query(
        'update organisation set stated_total_projects = 5, stated_active_projects = 3 where id = 77',
      )
      await insertProjects(store.db, [{ id: 1, organisationId: 77 }])
      expect([await active(), await stated()]).toEqual([[77], 3])
      await store.db.query(`update project set active = false, status = 'funded' where id = 1`)
      expect([await active(), await stated()]).toEqual([[], 0])
      await store.db.query(`update project set active = true, status = 'active' where id = 1`)
      expect([await active(), await stated()]).toEqual([[77], 3])
    })
  })

  describe('featured projects', async () => {
    const { store } = await testDatabase()
    let api: TestApi
    beforeAll(async () => {
      api = await testApi(store)
      await insertProjects(
        store.db,
        Array.from({ length: 40 }, (_, index) => ({ id: 1 + index })),
      )
    })
    const featured = async (path = '') =>
      ids((await get(`${projects}/featured/projects${path}`, {}, api)).json().projects)

    it('are ten, stay for the hour, change with it, and come back for the same hour', async () => {
      const first = await featured()
      expect(first.length).toBe(10)
      expect(await featured('/summary')).toEqual(first)
      const hours = new Set<string>()
      const start = api.now
      for (let hour = 0; hour < 5; hour++) {
        api.now = new Date(start.getTime() + hour * 3_600_000)
        hours.add((await featured()).join())
      }
      expect(hours.size).toBeGreaterThan(1)
      api.now = start
      expect(await featured()).toEqual(first)
    })

    it('are there as soon as projects are, not an hour after the first question', async () => {
      const { store } = await testDatabase()
      const fresh = await testApi(store)
      const featured = async () =>
        ids(
          (await fresh.app.inject({ url: `${projects}/featured/projects.json?api_key=${fresh.apiKey}` })).json()
            .projects,
        )
      expect(await featured()).toEqual([])
      await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
      expect((await featured()).sort()).toEqual([1, 2])
      await insertProjects(
        store.db,
        Array.from({ length: 30 }, (_, index) => ({ id: 10 + index })),
      )
      expect(await featured()).toHaveLength(10)
    })

    it('stay ten when one of them ends within the hour', async () => {
      const [gone, ...rest] = await featured()
      await store.db.query(`update project set active = false, status = 'funded' where id = $1`, [gone])
      const now = await featured()
      expect(now.length).toBe(10)
      expect(now.slice(0, 9)).toEqual(rest)
    })
  })

  describe('one round trip', async () => {
    const { store } = await testDatabase()
    let apiKey: string
    beforeAll(async () => {
      ;({ apiKey } = await testApi(store))
      await storeWells(store.db)
      // Where fewer than ten can be featured, one more statement asks for those that came after the draw.
      await insertProjects(
        store.db,
        Array.from({ length: 10 }, (_, index) => ({ id: 10_000 + index })),
      )
    })
    const countingApi = async () => {
      const counted: string[] = []
      const counting = (db: Db): Db => ({
        query: async (text, ...rest) => {
          // Statements of timers are not part of a read.
          if (!text.includes('store_fact')) counted.push(text)
          return await db.query(text, ...rest)
        },
      })
      const abortable: Store['abortable'] = (signal, work) => store.abortable(signal, (db) => work(counting(db)))
      const watched = new Proxy(store, {
        get: (target, name) => {
          if (name === 'db') return counting(store.db)
          if (name === 'abortable') return abortable
          const member: unknown = Reflect.get(target, name, target)
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
      return { ...(await testApi(store, { store: watched })), counted }
    }

    it('is all that a read takes once its records are there and the key is known', async () => {
      const { counted, ...counting } = await countingApi()
      const requests = readRequests.filter(({ golden }) => !golden.startsWith('download'))
      for (const round of ['warm', 'counted']) {
        for (const { path, query } of requests) {
          counted.length = 0
          const answer = await counting.app.inject(`${path}?api_key=${apiKey}${query ? `&${query}` : ''}`)
          expect([path, answer.statusCode]).toEqual([path, 200])
          if (round === 'counted') expect([path, counted]).toEqual([path, [expect.any(String)]])
        }
      }
    })

    it('is shared by projects and by pages that are asked for at once, which are answered as if they were alone', async () => {
      const { counted, ...counting } = await countingApi()
      const { rows } = await store.db.query<{ id: number }>('select id from project order by id limit 6')
      for (const pathOf of [
        (id: number) => `${projects}/projects/${id}.json?`,
        (id: number) => `${projects}/all/projects.xml?nextProjectId=${id}&`,
        (id: number) => `${projects}/all/projects/active/summary.json?nextProjectId=${id}&`,
      ]) {
        const read = async (id: number) => {
          const { statusCode, headers, body } = await counting.app.inject(`${pathOf(id)}api_key=${apiKey}`)
          return { statusCode, etag: headers.etag, body }
        }
        // The first read of a record renders it, and cannot name its version.
        for (const { id } of rows) await read(id)
        const alone = []
        for (const { id } of rows) alone.push(await read(id))
        counted.length = 0
        expect(await Promise.all(rows.map(({ id }) => read(id)))).toEqual(alone)
        expect(counted.length).toBeLessThan(rows.length)
      }
    })
  })

  describe('a walk through the list', () => {
    /** Where the page begins that is being read. */
    let page = 0
    const walk = async (list: string, from: number): Promise<number[]> => {
      const seen: number[] = []
      for (let next: number | undefined = from; next !== undefined; ) {
        page = next
        const answer = await app.inject(`${projects}/${list}?api_key=${api.apiKey}&nextProjectId=${next}`)
        const { children } = parseElement(answer.body)
        const idOf = (element: (typeof children)[number]) => element.children.find(({ name }) => name === 'id')?.text
        seen.push(...children.filter(({ name }) => name === 'project').map((element) => Number(idOf(element))))
        const cursor = children.find(({ name }) => name === 'nextProjectId')?.text
        next = cursor === undefined ? undefined : Number(cursor)
      }
      return seen
    }

    it('sees each project exactly once although projects come and go between any two statements', async () => {
      const from = 100_000
      const stable = Array.from({ length: 30 }, (_, index) => from + index * 10)
      const turned = stable.map((id) => id + 5)
      await insertProjects(
        store.db,
        [...stable, ...turned].map((id) => ({ id })),
      )
      await using writer = openStore({ url, max: 1, applicationName: 'test list disturber' })
      const query = store.db.query
      let inserted = 0
      const newcomers = new Map(stable.map((id) => [id, 0]))
      // Before each statement projects come in, and others end or revive, in the page that is being read.
      const between = vi.spyOn(store.db, 'query').mockImplementation(async (...statement) => {
        const first = page - (page % 10)
        for (const place of [first, first + 10, first + 20]) {
          const count = newcomers.get(place)
          if (count === undefined || count === 4) continue
          newcomers.set(place, count + 1)
          inserted++
          await insertProjects(writer.db, [{ id: place + 1 + count }])
          await writer.db.query('update project set active = not active where id = $1', [place + 5])
        }
        return await query(...statement)
      })
      const [all, active] = [await walk('all/projects.xml', from), await walk('all/projects/active/summary.xml', from)]
      between.mockRestore()

      expect(inserted).toBeGreaterThan(stable.length)
      for (const seen of [all, active]) {
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
        expect(seen.filter((id) => id % 10 === 0)).toEqual(stable)
      }
      expect(all.filter((id) => id % 10 === 5)).toEqual(turned)
    })
  })
})
