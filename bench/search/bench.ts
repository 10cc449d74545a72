import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import type { Db } from '../../src/platform/database/connection.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { apiPoolSize, type FilledApi, withFilledApi } from '../api/filled-api.js'
import { atMost, type Bar, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { describedLimits } from '../suite/settings.js'

/**
 * Searches of 20 clients at a time, beside the ids of the same pages alone: one statement that ranks, counts and cuts the
 * page, without records, HTTP or key.
 */
export const bench: Bench = {
  name: 'search',
  about: 'searches over 100,000 projects, 20 at a time, beside the ids of the same pages alone in PostgreSQL',
  byDefault: false,
  run: (setting) => withFilledApi(setting, (api) => measure(setting, api)),
}

const connections = 20
const mostMs = 100

type Query = { readonly q: string; readonly start?: number; readonly theme?: string; readonly country?: string }

/** One kind of search. */
type Kind = {
  readonly name: string
  /** A function gives queries that were never asked before. */
  readonly queries: readonly Query[] | (() => Query)
  readonly form?: 'summary.xml' | 'xml'
  /** The p99 must be below 100 ms. */
  readonly judged: boolean
  /** What else goes on meanwhile. */
  readonly beside?: (over: AbortSignal) => Promise<unknown>
}

type Times = { readonly perSecond: number; readonly p99: number; readonly longest: number; readonly failed: number }

async function measure({ quick, progress }: BenchSetting, api: FilledApi): Promise<BenchResult> {
  const { rounds, seconds } = quick ? { rounds: 1, seconds: 2 } : { rounds: 3, seconds: 3 }
  // As many connections as the API's.
  await using alone = openStore({ url: api.url, max: apiPoolSize, applicationName: 'bench floor' })
  const kinds = await kindsOf(api)
  const bars: Bar[] = []
  const lists: Times[] = []
  for (let round = 0; round < rounds; round++) lists.push(await listPages(api, seconds))
  const rows = [['for comparison: list pages, JSON', ...cellsOf(lists), '', '', '']]
  for (const kind of kinds) {
    if (typeof kind.queries !== 'function') await askOnce(api, kind.queries)
    const ours: Times[] = []
    const floor: Times[] = []
    for (let round = 0; round < rounds; round++) {
      progress(`${kind.name}: round ${round + 1} of ${rounds}`)
      const over = new AbortController()
      const beside = kind.beside?.(over.signal)
      ours.push(await searches(api, kind, seconds))
      over.abort()
      await beside
      floor.push(await idsAlone(alone, kind, seconds))
    }
    rows.push([kind.name, ...cellsOf(ours), ...cellsOf(floor)])
    if (kind.judged) bars.push(atMost(mostMs, `${kind.name}, p99`, median(ours.map(({ p99 }) => p99)), 'ms'))
    const failed = ours.reduce((sum, one) => sum + one.failed, 0)
    if (failed > 0) bars.push(atMost(0, `${kind.name}: failed requests`, failed, 'requests'))
  }
  return {
    tables: [
      {
        title:
          `${api.projects} projects, ${connections} at a time, medians of ${rounds} rounds of ${seconds} s; API, database and ` +
          `load generator share the machine; ${describedLimits}`,
        columns: ['', 'searches/s', 'p99, ms', 'longest, ms', 'ids alone/s', 'p99, ms', 'longest, ms'],
        rows,
      },
    ],
    bars,
    notes: [
      'Every search was asked once before, but those that say otherwise. A search that was never asked finds all hits, as the ids ' +
        'alone do; of a frequent word 20 at a time are not answered in 100 ms.',
    ],
  }
}

function cellsOf(times: readonly Times[]): string[] {
  const columns = [(one: Times) => one.perSecond, (one: Times) => one.p99, (one: Times) => one.longest]
  return columns.map((of) => median(times.map(of)).toFixed(0))
}

async function kindsOf({ projects, store, otherKey, port }: FilledApi): Promise<Kind[]> {
  const frequent = [
    'families',
    'train',
    'road closed',
    'help',
    'neighbours',
    'season',
    'local material',
    'families -water',
  ]
  const { rows } = await store.db.query<{ word: string; theme: string; country: string }>(
    `select distinct on (split_part(o.name, ' ', 1)) split_part(o.name, ' ', 1) as word, t.theme_id as theme,
        c.country_code as country
      from organisation o join project p on p.organisation_id = o.id and p.active
        join project_theme t on t.project_id = p.id join project_country c on c.project_id = p.id
      order by split_part(o.name, ' ', 1), o.id limit 40`,
  )
  const filtered = rows.slice(0, 12).flatMap(({ theme, country }, index) => [
    { q: frequent[index % frequent.length] ?? '*', theme },
    { q: '*', country },
    { q: 'families', theme, country },
  ])
  const words = frequent.map((q) => ({ q }))
  const rare = rows.map(({ word }) => ({ q: word }))
  const phrases = ['"rainy season"', '"nearest help"', '"buy material"', '"local coordinators"'].map((q) => ({ q }))
  const deep = Array.from({ length: 40 }, (_, index) => ({
    q: ['*', 'families', 'train'][index % 3] ?? '*',
    start: Math.floor((projects * (index + 1)) / 80),
  }))
  const mixed = [...words, ...rare, ...phrases, ...filtered, ...deep]
  let asked = 0
  const unheard = (word = '*') => ({ q: `${word} -zz${process.pid}x${asked++}` })
  return [
    { name: 'frequent words, JSON', queries: words, judged: true },
    { name: 'frequent words, XML', queries: words, form: 'xml', judged: true },
    { name: 'rare words', queries: rare, judged: true },
    { name: 'phrases', queries: phrases, judged: true },
    { name: 'filters', queries: filtered, judged: true },
    { name: 'deep pages', queries: deep, judged: true },
    { name: 'all of these, summaries in XML', queries: mixed, form: 'summary.xml', judged: true },
    {
      name: 'all of these while another account searches anew without end',
      queries: mixed,
      judged: true,
      beside: (over) => searchWithoutEnd(`http://127.0.0.1:${port}`, otherKey, () => unheard('families'), over),
    },
    {
      name: 'all of these while a title changes each second',
      queries: mixed,
      judged: true,
      beside: (over) => changeTitles(store, over),
    },
    { name: 'rare words never asked before', queries: () => unheard(rare[asked % rare.length]?.q), judged: true },
    { name: 'frequent words never asked before', queries: () => unheard('families'), judged: false },
  ]
}

function addressOf({ q, start = 0, theme, country }: Query, apiKey: string, form = 'json'): string {
  const filter = [theme && `theme:${theme}`, country && `country:${country}`].filter(Boolean).join()
  const [view, format] = form === 'summary.xml' ? ['/summary', 'xml'] : ['', form]
  const query = new URLSearchParams({ q, start: String(start), ...(filter !== '' && { filter }), api_key: apiKey })
  return `/api/public/services/search/projects${view}.${format}?${query}`
}

async function searches({ port, apiKey }: FilledApi, { queries, form }: Kind, seconds: number): Promise<Times> {
  return await load(port, seconds, (number) => addressOf(queryOf(queries, number), apiKey, form))
}

async function listPages({ port, apiKey, projects }: FilledApi, seconds: number): Promise<Times> {
  const list = '/api/public/projectservice/all/projects.json'
  return await load(port, seconds, (number) => `${list}?nextProjectId=${(number * 7_919) % projects}&api_key=${apiKey}`)
}

function queryOf(queries: Kind['queries'], number: number): Query {
  return (typeof queries === 'function' ? queries() : queries[number % queries.length]) ?? { q: '*' }
}

async function load(port: number, seconds: number, pathOf: (number: number) => string): Promise<Times> {
  let number = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [{ setupRequest: (request) => ({ ...request, path: pathOf(number++) }) }],
  })
  return {
    perSecond: result.requests.average,
    p99: result.latency.p99,
    longest: result.latency.max,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

async function askOnce({ port, apiKey }: FilledApi, queries: readonly Query[]): Promise<void> {
  for (const query of queries) await (await fetch(`http://127.0.0.1:${port}${addressOf(query, apiKey)}`)).arrayBuffer()
}

async function idsAlone(store: Store, { queries }: Kind, seconds: number): Promise<Times> {
  const until = performance.now() + seconds * 1_000
  const times: number[] = []
  let number = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        const query = queryOf(queries, number++)
        const began = performance.now()
        await selectIds(store.db, query)
        times.push(performance.now() - began)
      }
    }),
  )
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { perSecond: times.length / seconds, p99: at(0.99), longest: at(1), failed: 0 }
}

/** Ten ids and the number of all hits, as plain SQL has them. */
async function selectIds(db: Db, { q, start = 0, theme, country }: Query): Promise<void> {
  const values: unknown[] = [start]
  const bind = (value: unknown) => `$${values.push(value)}`
  const words = q === '*' ? undefined : bind(q)
  const filters = [
    'true',
    ...(theme ? [`project_id in (select project_id from project_theme where theme_id = ${bind(theme)})`] : []),
    ...(country
      ? [`project_id in (select project_id from project_country where country_code = ${bind(country)})`]
      : []),
  ].join(' and ')
  await db.query(
    words === undefined
      ? `select (select count(*) from project_search where ${filters}),
          array(select project_id from project_search where ${filters} order by project_id limit 10 offset $1)`
      : `with hit as materialized (
          select project_id, ts_rank(document, query) as rank
          from websearch_to_tsquery('english', ${words}) query join project_search on document @@ query where ${filters})
        select (select count(*) from hit),
          array(select project_id from hit order by rank desc, project_id limit 10 offset $1)`,
    values,
  )
}

/** 20 requests at a time, each of which finds its hits anew. */
async function searchWithoutEnd(url: string, apiKey: string, next: () => Query, over: AbortSignal): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!over.aborted) {
        const answer = await fetch(url + addressOf(next(), apiKey), { signal: over }).catch(() => undefined)
        await answer?.arrayBuffer().catch(() => undefined)
      }
    }),
  )
}

async function changeTitles(store: Store, over: AbortSignal): Promise<void> {
  for (let number = 0; !over.aborted; number++) {
    await store.db.query(
      `update project set title = title || $1
        where id = (select min(id) from project where active and id > $2)`,
      [` ${number}`, number * 100],
    )
    await sleep(1_000, undefined, { signal: over }).catch(() => undefined)
  }
}
