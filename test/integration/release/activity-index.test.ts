import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { createXsdValidator, validateFile } from '../../../src/iati/validation/index.js'
import { type Element, element, textElement } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import type { ActivityEntry } from '../../../src/release/read/activity-entry.js'
import { ActivityIndex, indexedActivities, readActivity } from '../../../src/release/read/activity-index.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testApi } from '../../support/api/api.js'
import { testPublisher } from '../../support/release/publishing.js'
import { type CountedActivity, countActivities, sumOf } from '../../support/release/recount.js'
import { testDatabase } from '../../support/store/database.js'
import { officialStandard } from '../../support/values/borrowed-files.js'
import { day, mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const standard = officialStandard('the official schema in the test of single activities')
const { store } = await testDatabase()
const publisher = await testPublisher(store, { segmentBytes: 1_000_000 })
const { currency, baseUrl } = mappingConfig
// Enough for two files.
await seed(store, { projects: 60, source: 'local', firstId: 1, today: day('2026-11-20'), currency, baseUrl })
expect((await publisher.publish()).state).toBe('published')
const api = await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) })

async function openIndex() {
  const release = await publisher.live()
  const index = await ActivityIndex.read(release)
  if (!index) throw new Error('the release has no index')
  return { release, index }
}

async function expectRecount(): Promise<void> {
  const { release, index } = await openIndex()
  const texts = new Map<string, object>()
  for await (const activities of indexedActivities(release)) {
    for (const one of activities) texts.set(one.identifier, { ...one.texts, years: one.years })
  }
  const wrong: unknown[] = []
  const count = await countActivities(release, ({ identifier, path: file, find, sum }) => {
    const row = index.rowOf(identifier) ?? -1
    const entry = row < 0 ? undefined : index.entry(row)
    const currencies = [...new Set(find('budget/value/@currency | transaction/value/@currency'))].sort()
    const counted: Omit<ActivityEntry, 'offset' | 'length' | 'hash' | 'has'> = {
      identifier,
      project: Number(find('other-identifier[@type="A1"]/@ref')[0]),
      changed: find('@last-updated-datetime')[0] ?? '',
      title: find('title/narrative')[0] ?? '',
      status: find('activity-status/@code')[0] ?? '',
      ...first('start', [...find('activity-date[@type="2"]/@iso-date'), ...find('activity-date[@type="1"]/@iso-date')]),
      ...first('end', [...find('activity-date[@type="4"]/@iso-date'), ...find('activity-date[@type="3"]/@iso-date')]),
      countries: find('recipient-country/@code'),
      sectors: find('sector[@vocabulary="1"]/@code'),
      themes: Object.fromEntries(
        find('sector[@vocabulary="99"]/@code').map((code, at) => [
          code,
          find('sector[@vocabulary="99"]/narrative')[at],
        ]),
      ) as Record<string, string>,
      ...several({
        countries: find('recipient-country/@percentage'),
        sectors: find('sector[@vocabulary="1"]/@percentage'),
        themes: find('sector[@vocabulary="99"]/@percentage'),
      }),
      ...(find('participating-org[@role="4"]')[0] !== undefined && {
        partner: {
          ...first('ref', find('participating-org[@role="4"][1]/@ref')),
          name: find('participating-org[@role="4"][1]/narrative')[0] ?? '',
        },
      }),
      ...first('page', find('document-link[category/@code="A12"]/@url')),
      ...first('picture', find('document-link[starts-with(@format, "image/")]/@url')),
      money: Object.fromEntries(
        currencies.map((currency) => {
          const of = `value[@currency="${currency}"]`
          const revised = find('budget[@type="2"]').length > 0 ? '2' : '1'
          return [
            currency,
            {
              budget: sum(`budget[@type="${revised}"]/${of}`),
              in: sum(`transaction[transaction-type/@code="1"]/${of}`),
              out: sum(`transaction[transaction-type/@code="3" or transaction-type/@code="4"]/${of}`),
              expenditure: sum(`transaction[transaction-type/@code="4"]/${of}`),
            },
          ]
        }),
      ) as ActivityEntry['money'],
      budgetYears: yearsBetween(find('budget/period-start/@iso-date'), find('budget/period-end/@iso-date')),
    }
    const { offset: _offset, length: _length, hash: _hash, has: _has, ...indexed } = entry ?? ({} as ActivityEntry)
    if (JSON.stringify(sorted(indexed)) !== JSON.stringify(sorted(counted)) || index.pathOf(row) !== file) {
      wrong.push({ indexed, counted })
    }
    const searched = {
      ...some('titles', find('title/narrative').slice(1)),
      ...some('places', find('location//narrative')),
      ...some('descriptions', find('description/narrative')),
      years: yearsIn(find),
    }
    if (JSON.stringify(texts.get(identifier)) !== JSON.stringify(searched)) {
      wrong.push({ texts: texts.get(identifier), searched })
    }
  })
  expect(wrong.slice(0, 1)).toEqual([])
  expect(index.count).toBe(count)
}

/** Sums of transactions and budgets by currency, year and kind. */
function yearsIn(find: CountedActivity['find']): object {
  const amounts: Record<string, Record<string, Record<string, string[]>>> = {}
  const add = (elements: string, day: string, ...kinds: string[]) => {
    const [values, currencies, days] = [`${elements}/value`, `${elements}/value/@currency`, `${elements}/${day}`].map(
      find,
    )
    for (const [at, value] of values?.entries() ?? []) {
      for (const kind of kinds) {
        amounts[currencies?.[at] ?? ''] ??= {}
        const years = amounts[currencies?.[at] ?? ''] ?? {}
        const year = days?.[at]?.slice(0, 4) ?? ''
        years[year] = { ...years[year], [kind]: [...(years[year]?.[kind] ?? []), value] }
      }
    }
  }
  const transactions = (type: string) => `transaction[transaction-type/@code="${type}"]`
  add(`budget[@type="${find('budget[@type="2"]').length > 0 ? '2' : '1'}"]`, 'period-start/@iso-date', 'budget')
  add(transactions('4'), 'transaction-date/@iso-date', 'expenditure', 'out')
  add(transactions('1'), 'transaction-date/@iso-date', 'in')
  add(`${transactions('1')}[starts-with(@ref, "open-")]`, 'transaction-date/@iso-date', 'opening')
  add(transactions('3'), 'transaction-date/@iso-date', 'out')
  const summed = Object.entries(amounts).map(([currency, years]) => {
    const byYear = Object.entries(years).map(([year, kinds]) => {
      const sums = Object.entries(kinds).map(([kind, values]) => [kind, sumOf(values)] as const)
      return [year, sorted(Object.fromEntries(sums.filter(([, sum]) => sum !== '0')))] as const
    })
    return [currency, Object.fromEntries(byYear.filter(([, kinds]) => Object.keys(kinds).length > 0))] as const
  })
  return sorted(Object.fromEntries(summed.filter(([, years]) => Object.keys(years).length > 0)))
}

function first<Name extends string>(name: Name, [value]: readonly string[]): Partial<Record<Name, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>)
}

function some(name: string, values: readonly string[]): object {
  return values.length === 0 ? {} : { [name]: values }
}

/** The percentages of the lists that have any. */
function several(lists: Record<'countries' | 'sectors' | 'themes', string[]>): Pick<ActivityEntry, 'shares'> {
  const shares = Object.entries(lists).filter(([, list]) => list.length > 0)
  return shares.length === 0 ? {} : { shares: Object.fromEntries(shares) }
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function yearsBetween(starts: readonly string[], ends: readonly string[]): number[] {
  const years = new Set<number>()
  for (const [at, start] of starts.entries()) {
    for (let year = Number(start.slice(0, 4)); year <= Number(ends[at]?.slice(0, 4)); year++) years.add(year)
  }
  return [...years].sort()
}

describe('the index', () => {
  it('says what an XML parser finds in each activity, and where its bytes are', async () => {
    const { release, index } = await openIndex()
    expect(release.manifest.files.filter(({ path: file }) => /activities-\d/.test(file)).length).toBeGreaterThan(0)
    await expectRecount()
    for (const row of [0, 1, index.count - 1]) {
      const text = (await readActivity(release, index, row)).toString('utf8')
      expect(text).toMatch(/^<iati-activity .*<\/iati-activity>$/s)
      expect(text).toContain(`<iati-identifier>${index.entry(row).identifier}</iati-identifier>`)
      expect(text.match(/<iati-activity /g)).toHaveLength(1)
      const undated = text.replace(/ last-updated-datetime="[^"]*"/, '')
      expect(index.entry(row).hash).toBe(hash('sha256', undated, 'base64url'))
    }
    const bits = index
      .entry(0)
      .has.toString(2)
      .split('')
      .filter((bit) => bit === '1').length
    const names = parseElement(await readActivity(release, index, 0), recordLimits).children.map(({ name }) => name)
    expect(bits).toBe(new Set(names).size)
  })

  it('has the sums of all months', async () => {
    const { release, index } = await openIndex()
    const amounts: Record<string, string[]> = {}
    await countActivities(release, ({ find }) => {
      const dates = find('transaction[transaction-type/@code="1"]/transaction-date/@iso-date')
      const values = find('transaction[transaction-type/@code="1"]/value')
      for (const [at, date] of dates.entries()) {
        const month = date.slice(0, 7)
        amounts[month] = [...(amounts[month] ?? []), values[at] ?? '']
      }
    })

    const counted = Object.fromEntries(Object.entries(amounts).map(([month, values]) => [month, sumOf(values)]))
    const indexed = Object.entries(index.months.USD ?? {}).filter(([month]) => month in counted)
    expect(Object.fromEntries(indexed.map(([month, sums]) => [month, sums.in]))).toEqual(counted)
  })

  it('is carried over while nothing changes, and right after one activity of one file did', async () => {
    const before = await publisher.manifest()
    const hashOf = (manifest: typeof before) => manifest.files.find((file) => file.path === '/iati/index.json')?.sha256
    publisher.now = new Date('2026-11-21T03:00:00Z')
    expect((await publisher.publish({ force: true })).state).toBe('unchanged')
    await store.db.query(`update project set title = 'Café & <wells> "\u2028" 🌱' where id = 7`)
    publisher.now = new Date('2026-11-21T04:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
    expect(hashOf(await publisher.manifest())).not.toBe(hashOf(before))
    await expectRecount()
  })
})

describe('one activity', () => {
  const get = (identifier: string, headers = {}) => api.app.inject({ url: `/iati/activities/${identifier}`, headers })
  const identifier = `${mappingConfig.reportingOrg.ref}-7`

  it('is a valid file of its own, with an ETag that changes only with the record', async () => {
    const folder = await temporaryFolder()
    const answer = await get(identifier)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/xml; charset=utf-8',
      'cache-control': 'public, no-cache',
    })
    expect(answer.headers['x-release']).toBe((await publisher.live()).id)
    const file = path.join(folder, 'activity.xml')
    await writeFile(file, answer.body)
    const xsd = standard ? await createXsdValidator(standard) : undefined
    const report = await validateFile(file, {
      context: { today: day('2026-11-21'), strict: true },
      ...(xsd && { xsd }),
    })
    expect(report.summary.errors).toBe(0)
    const { etag } = answer.headers
    expect((await get(identifier, { 'if-none-match': etag })).statusCode).toBe(304)
    await store.db.query(`update project set title = 'Other' where id = 8`)
    publisher.now = new Date('2026-11-21T05:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
    expect((await get(identifier)).headers.etag).toBe(etag)
    await store.db.query(`update project set title = 'Other still' where id = 7`)
    publisher.now = new Date('2026-11-21T06:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
    expect((await get(identifier)).headers.etag).not.toBe(etag)
  })

  it('is the same in JSON, without loss', async () => {
    const { release, index } = await openIndex()
    for (let row = 0; row < index.count; row += 9) {
      const { identifier: one } = index.entry(row)
      const json = (await get(one, { accept: 'application/json' })).json()
      expect((await get(`${one}.json`)).json()).toEqual(json)
      const xml = parseElement((await get(`${one}.xml`)).body, recordLimits)
      expect(fromJson('iati-activities', json['iati-activities'])).toEqual(strip(xml))
      expect((await readActivity(release, index, row)).length).toBe(index.entry(row).length)
    }
  })

  it('is 404 when it never was, 410 when it is not any more, 503 before the first release', async () => {
    expect((await get('XX-1-7')).statusCode).toBe(404)
    expect((await get(`X${identifier}`)).statusCode).toBe(404)
    await store.db.query(
      `insert into published_identifier (identifier, project_id, segment, first_release_id, first_published_at, withdrawn_at)
        values ('GONE-99999', 99999, 1, 'none', now(), now())`,
    )
    expect((await get('GONE-99999')).statusCode).toBe(410)
    const empty = await testApi(store, { store })
    expect((await empty.app.inject(`/iati/activities/${identifier}`)).statusCode).toBe(503)
  })
})

type Json = { readonly [name: string]: string | readonly Json[] }

function fromJson(name: string, json: Json): Element {
  const attributes: Record<string, string> = {}
  const children: Element[] = []
  for (const [member, value] of Object.entries(json)) {
    if (typeof value !== 'string') children.push(...value.map((child) => fromJson(member, child)))
    else if (member !== '#text') attributes[member.slice(1)] = value
  }
  const text = json['#text']
  return typeof text === 'string' ? textElement(name, text, attributes) : element(name, attributes, children)
}

function strip({ name, attributes, children, text }: Element): Element {
  return { name, attributes, children: children.map(strip), text }
}
