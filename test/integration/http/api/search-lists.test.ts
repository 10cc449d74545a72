import { describe, expect, it } from 'vitest'
import { createHitLists } from '../../../../src/http/api/operations/hit-lists.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { testApi } from '../../../support/api/api.js'
import { insertProjects, loseProjects } from '../../../support/store/catalogue.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

describe('remembered searches', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()

  const get = (query: string, format = 'json') =>
    api.app.inject(`/api/public/services/search/projects.${format}?api_key=${api.apiKey}&${query}`)
  const search = async (query: string) => {
    const answer = await get(query)
    expect(answer.statusCode).toBe(200)
    const { response } = answer.json().search
    return {
      found: response.numberFound as number,
      ids: (response.projects?.project ?? []).map(({ id }: { id: number }) => id) as number[],
    }
  }
  const sql = async (statement: string) => void (await store.db.query(statement))
  /** Fails every search for hits: only remembered lists answer meanwhile. */
  const withoutSearching = async (work: () => Promise<void>) => {
    const connection = openStore({ url, max: 1, applicationName: 'lock' })
    await connection.transaction(async (db) => {
      await db.query('lock table project_search in access exclusive mode')
      await work()
    })
    await connection.close()
  }

  await storeWells(store.db)
  await insertProjects(
    store.db,
    Array.from({ length: 40 }, (_, index) => ({ id: 5001 + index, title: 'Ferns' })),
  )
  const searches = openStore({ url, max: 2, applicationName: 'searches', statementTimeoutMs: 3000 })
  const api = await testApi(store, { searches })

  it('answer every page in every form without searching again', async () => {
    const whole = await search('q=ferns&limit=100')
    expect(whole).toEqual({ found: 40, ids: Array.from({ length: 40 }, (_, index) => 5001 + index) })
    await withoutSearching(async () => {
      expect(await search('q=ferns')).toEqual({ found: 40, ids: whole.ids.slice(0, 10) })
      expect(await search('q=ferns&start=35')).toEqual({ found: 40, ids: whole.ids.slice(35) })
      expect(await search('q=ferns&start=40')).toEqual({ found: 40, ids: [] })
      expect((await get('q=ferns&start=38&limit=1', 'xml')).body).toMatch(
        /<response start="38" numberFound="40"><projects><project>.*<id>5039<\/id>/s,
      )
      expect((await get('q=orchids')).statusCode).toBe(503)
    })
  })

  it('are not forgotten when something changes that decides on no hit', async () => {
    await search('q=ferns')
    await sql(`update project set funding = 77, modified_date = now() where id = 5001`)
    await sql(`update project set title = title where id = 5001`)
    await sql(`delete from project_theme where project_id = 5001`)
    await withoutSearching(async () => {
      const { search: found } = (await get('q=ferns&limit=1')).json()
      expect(found.response).toMatchObject({ numberFound: 40, projects: { project: [{ id: 5001, funding: 77 }] } })
    })
  })

  const lose = 'lose'
  it.each([
    ['a title', 'q=ferns', `update project set title = 'Moss' where id = 5002`, 39],
    ['the name of an organisation', 'q=moor', `update organisation set name = 'Moor' where id = 318`, 1],
    ['the name of a country', 'q=salone', `update country set name = 'Salone' where code = 'SL'`, 1],
    ['an end', 'q=ferns', `update project set active = false where id = 5003`, 38],
    ['a beginning', 'q=ferns', `update project set active = true where id = 5003`, 39],
    [
      'a new project',
      'q=ferns',
      `insert into project (id, active, status, title) values (6001, true, 'active', 'Ferns')`,
      40,
    ],
    ['a theme', 'q=ferns&filter=theme:water', `insert into project_theme values (5004, 0, 'water')`, 1],
    [
      'another theme',
      'q=ferns&filter=theme:water',
      `update project_theme set theme_id = 'edu' where project_id = 5004`,
      0,
    ],
    ['a country', 'q=*&filter=country:pe', `insert into project_country values (5005, 0, 'PE')`, 2],
    ['a country less', 'q=*&filter=country:pe', `delete from project_country where project_id = 5005`, 1],
    ['themes less', 'q=*&filter=theme:water', `truncate project_theme`, 0],
    ['a deleted project', 'q=ferns', lose, 39],
  ])('follow %s', async (_what, query, change, after) => {
    const before = await search(query)
    await (change === lose ? loseProjects(store, [6001]) : sql(change))
    expect(before.found).not.toBe(after)
    expect((await search(query)).found).toBe(after)
  })

  it('follow a change that began before the search and ended after it', async () => {
    const writer = openStore({ url, max: 1, applicationName: 'writer' })
    await writer.transaction(async (db) => {
      await db.query(`update project set title = 'Sedge' where id = 5010`)
      await sql(`update project set title = 'Sedge' where id = 5011`)
      expect(await search('q=sedge')).toEqual({ found: 1, ids: [5011] })
    })
    expect(await search('q=sedge')).toEqual({ found: 2, ids: [5010, 5011] })
    await writer.close()
  })

  it('are updated where projects changed, without searching among the others', async () => {
    const searches = openStore({ url, max: 2, applicationName: 'searches' })
    const fixing = await testApi(store, { store, searches })
    const found = async (q: string) => {
      const answer = await fixing.app.inject(
        `/api/public/services/search/projects/summary.json?api_key=${api.apiKey}&q=${q}&limit=100`,
      )
      return answer.json().search?.response.projects.project.map(({ id }: { id: number }) => id)
    }
    await sql(`update project set title = 'Heather' where id between 5020 and 5024`)
    await sql(`update project set need = 'Heather' where id = 5030`)
    expect(await found('heather')).toEqual([5020, 5021, 5022, 5023, 5024, 5030])
    expect(await found('*')).toHaveLength(42)
    await searches.close()
    expect(await found('gorse')).toBeUndefined()
    await sql(`update project set title = 'Heather' where id in (5019, 5030)`)
    await sql(`update project set title = 'Gorse', need = 'Heather' where id = 5021`)
    await sql(`update project set active = false where id = 5022`)
    expect(await found('heather')).toEqual([5030, 5019, 5020, 5023, 5024, 5021])
    await sql(`update project set active = true where id = 5022`)
    expect(await found('heather')).toEqual([5030, 5019, 5020, 5022, 5023, 5024, 5021])
    expect(await found('*')).toHaveLength(42)
  })

  it('are found anew where very many projects changed', async () => {
    expect(await search('q=bracken')).toEqual({ found: 0, ids: [] })
    const many = Array.from({ length: 1_001 }, (_, index) => ({ id: 6_500 + index, title: 'Bracken' }))
    await insertProjects(store.db, many)
    const { rows } = await store.db.query(`select project_id from search_change order by xid desc limit 1`)
    expect(rows).toEqual([{ projectId: undefined }])
    expect((await search('q=bracken')).found).toBe(1_001)
    for (const id of [8001, 8002]) await insertProjects(store.db, [{ id, title: 'Bracken' }])
    expect(await search('q=bracken&start=1001')).toEqual({ found: 1_003, ids: [8001, 8002] })
  })

  describe('in memory', () => {
    const wanted = (words: string) => ({ words, themeIds: [], countryCodes: [] })
    const open = (mostBytes?: number) => {
      const searches = openStore({ url, max: 2, applicationName: 'searches' })
      const find = createHitLists({ reads: store, searches, clock: () => api.now }, mostBytes)
      return { searches, find: (words: string, signal = AbortSignal.any([])) => find(1, signal, wanted(words)) }
    }

    it('are forgotten where others were used later and there is no room', async () => {
      // Room for two short lists.
      const { searches, find } = open(2_500)
      for (const words of ['ferns zz1', 'ferns zz2', 'ferns zz1', 'ferns zz3']) await find(words)
      await searches.close()
      await expect(find('ferns zz1')).resolves.toMatchObject({ ids: new Float64Array() })
      await expect(find('ferns zz3')).resolves.toBeDefined()
      await expect(find('ferns zz2')).rejects.toThrow()
    })

    it('are found for those who wait when another who asked for the same has gone', async () => {
      const { searches, find } = open()
      const gone = new AbortController()
      const answers: Promise<unknown>[] = []
      await withoutSearching(async () => {
        answers.push(
          find('ferns', gone.signal).catch(() => 'gone'),
          find('ferns'),
        )
        gone.abort()
      })
      expect(await answers[1]).toMatchObject({ ids: { length: 30 } })
      await searches.close()
    })

    it('are found anew for who asks after all who waited have gone', async () => {
      const { searches, find } = open()
      const gone = new AbortController()
      let again: Promise<unknown> = Promise.resolve()
      await withoutSearching(async () => {
        const first = find('ferns', gone.signal)
        gone.abort()
        again = find('ferns')
        await expect(first).rejects.toThrow()
      })
      expect(await again).toMatchObject({ ids: { length: 30 } })
      await searches.close()
    })
  })

  it('are found again after an hour', async () => {
    await search('q=sedge')
    api.now = new Date(api.now.getTime() + 3_600_000)
    await withoutSearching(async () => expect((await get('q=sedge')).statusCode).toBe(503))
  })
})
