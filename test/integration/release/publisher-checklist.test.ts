import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { XmlDocument, type XmlNode, XmlXPath } from 'libxml2-wasm'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { createXsdValidator, validateFile } from '../../../src/iati/validation/index.js'
import { isoDateOf, isoInstantOf } from '../../../src/kernel/dates.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import type { Manifest } from '../../../src/release/read/manifest.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { createRun } from '../../../src/work/sql/runs.js'
import { listen, testApi } from '../../support/api/api.js'
import { officialJudge } from '../../support/iati/official-ruleset.js'
import { account, donationRequest, testPayments } from '../../support/money/donations.js'
import { pathOnDisk } from '../../support/release/path-on-disk.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { officialStandard, realRecords } from '../../support/values/borrowed-files.js'
import { day, mappingConfig } from '../../support/values/builders.js'

/**
 * The publisher's checklist (iati.md 17), a test for each point, over what was really published and read
 * by a parser that is not ours. Enough activities for two segments; the real records too, where they are.
 */
const seeded = 60
/** As many times smaller than a real one (12 MB) as the files are here. */
const segmentBytes = 1_000_000
const samples = realRecords('real records in the publisher’s checklist')
const standard = officialStandard('the official schema and ruleset in the publisher’s checklist')
const donor = { firstname: 'Zebedee', lastname: 'Quixwold', email: 'zebedee@quixwold.example' }
const { store } = await testDatabase()
const publisher = await testPublisher(store, { segmentBytes })
const { currency, baseUrl: addresses } = mappingConfig
const today = day('2026-11-20')
await seed(store, { projects: seeded, source: 'local', firstId: 1, today, currency, baseUrl: addresses })
const clock = () => publisher.now
if (samples) await importFiles(store, [samples], { source: 'import', clock, currency })
await donate(5)
expect((await publisher.publish()).state).toBe('published')
const { app } = await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) })
const baseUrl = await listen(app)

async function donate(projectId: number): Promise<void> {
  const { rows } = await store.db.query<{ id: number }>(
    `with owner as (insert into account (email, password_hash, created_at) values ('api@example.org', 'x', now())
        returning id)
      insert into api_key (account_id, key_hash, created_at) select id, sha256('checklist'::bytea), now() from owner returning id`,
  )
  await store.db.query(`update project set active = true, status = 'active' where id = $1`, [projectId])
  const wanted = donationRequest({ email: donor.email, project: { id: projectId } }, donor)
  const payments = testPayments(store, { clock: () => new Date('2026-11-20T12:00:00Z') })
  await submitDonation(payments, { account, keyId: rows[0]?.id ?? 0, requestId: 'checklist' }, wanted)
}

async function publishAt(instant: string): Promise<string> {
  publisher.now = new Date(instant)
  return (await publisher.publish()).state
}

async function paths(pattern: RegExp): Promise<string[]> {
  return (await publisher.manifest()).files.map(({ path }) => path).filter((path) => pattern.test(path))
}
const segments = () => paths(/^\/iati\/activities(-\d+)?\.xml$/)
const iatiFiles = () => paths(/^\/iati\/.*\.xml$/)

/** What an XPath finds in each activity of the live files. */
async function eachActivity(look: (find: (xpath: string) => string[], activity: XmlNode) => void): Promise<number> {
  let count = 0
  for (const address of await segments()) {
    const document = XmlDocument.fromString(await publisher.read(address))
    try {
      for (const activity of document.find(compiled('/iati-activities/iati-activity'))) {
        count++
        look((xpath) => activity.find(compiled(xpath)).map(({ content }) => content), activity)
      }
    } finally {
      document.dispose()
    }
  }
  return count
}

const known = new Map<string, XmlXPath>()
function compiled(text: string, namespaces?: Record<string, string>): XmlXPath {
  const xpath = known.get(text) ?? XmlXPath.compile(text, namespaces)
  known.set(text, xpath)
  return xpath
}

async function identifiers(): Promise<string[]> {
  const all: string[] = []
  await eachActivity((find) => all.push(...find('iati-identifier')))
  return all
}

const sum = (texts: readonly string[]) => Math.round(texts.reduce((total, text) => total + Number(text), 0) * 1e4) / 1e4
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

describe("the publisher's checklist", { shuffle: false }, () => {
  it('point 1: valid by the schema, our checks and the official ruleset, every file', async () => {
    const xsd = standard ? await createXsdValidator(standard) : undefined
    const context = { today: isoDateOf(publisher.now), now: isoInstantOf(publisher.now) }
    const release = await publisher.live()
    const files = await iatiFiles()
    expect(files).toEqual(
      expect.arrayContaining([
        ...['/iati/activities.xml', '/iati/activities-2.xml', '/iati/bulk/activities.xml', '/iati/organisations.xml'],
      ]),
    )
    for (const address of files) {
      const file = await release.find(address)
      const options = { context: { ...context, reportingOrgRef: mappingConfig.reportingOrg.ref }, ...(xsd && { xsd }) }
      const { summary, samples: found, complete } = await validateFile(await pathOnDisk(file?.identity), options)
      expect([
        address,
        complete,
        summary.errors,
        summary.warnings,
        found.filter((one) => one.severity !== 'info'),
      ]).toEqual([address, true, 0, 0, []])
    }
    xsd?.dispose()
    if (!standard) return
    const judge = officialJudge(standard, context.now)
    const [, ...texts] = (await publisher.read('/iati/activities.xml'))
      .replace('</iati-activities>', '')
      .split(/\n(?=<iati-activity )/)
    expect(texts.length).toBeGreaterThan(20)
    for (const text of texts) expect([...judge(parseElement(Buffer.from(text), recordLimits))]).toEqual([])
  })

  it('point 2: no identifier ever disappears, whatever happens to its project', async () => {
    const before = await identifiers()
    expect(before.length).toBeGreaterThanOrEqual(seeded)
    expect(new Set(before).size).toBe(before.length)
    await store.db.query(`update project set active = false, status = 'retired' where id = 11;
      update project set active = false, status = 'funded' where id = 12;
      update project set paused = true where id = 13;
      update project set title = 'Another title', organisation_id = null where id = 14`)
    expect(await publishAt('2026-11-21T03:00:00Z')).toBe('published')
    expect(await identifiers()).toEqual(before)
    const { rows } = await store.db.query<{ identifier: string }>(
      'select identifier from published_identifier order by project_id',
    )
    expect(new Set(rows.map(({ identifier }) => identifier))).toEqual(new Set(before))
  })

  it('point 3: bytes and last-updated-datetime of unchanged input stay', async () => {
    const texts = async () => Promise.all((await iatiFiles()).map(async (file) => sha256(await publisher.read(file))))
    const before = await texts()
    publisher.now = new Date('2026-11-21T04:00:00Z')
    expect((await publisher.publish({ force: true })).state).toBe('unchanged')
    expect(await texts()).toEqual(before)
    await eachActivity((find) =>
      expect(['2026-11-21T02:00:00Z', '2026-11-21T03:00:00Z']).toContain(find('@last-updated-datetime')[0]),
    )
  })

  it('point 4: shares are 100, money is the ledger’s, and no date is in the future', async () => {
    const today = isoDateOf(publisher.now)
    const incoming: Record<string, string[]> = {}
    await eachActivity((find) => {
      const [identifier = ''] = find('iati-identifier')
      for (const shares of [
        find('recipient-country/@percentage | recipient-region/@percentage'),
        find('sector[@vocabulary="1"]/@percentage'),
        find('sector[@vocabulary="99"]/@percentage'),
      ]) {
        if (shares.length > 0) expect([identifier, sum(shares)]).toEqual([identifier, 100])
      }
      const past = find(`transaction/transaction-date/@iso-date | transaction/value/@value-date |
        activity-date[@type="2" or @type="4"]/@iso-date | document-link/document-date/@iso-date |
        result/indicator/period/period-end/@iso-date`)
      for (const date of past) expect(date <= today, `${identifier}: ${date}`).toBe(true)
      incoming[identifier.replace(`${mappingConfig.reportingOrg.ref}-`, '')] = find(
        'transaction[transaction-type/@code="1"]/value',
      )
    })
    const { rows } = await store.db.query<{ id: string; amount: string }>(
      `select project_id::text as id, sum(case when kind = 'refund' then -abs(amount) else amount end)::text as amount
        from donation_month where kind <> 'fee' group by project_id`,
    )
    const books = Object.fromEntries(rows.map(({ id, amount }) => [id, Number(amount)]))
    expect(rows.length).toBeGreaterThan(seeded / 2)
    for (const [id, values] of Object.entries(incoming)) expect([id, sum(values)]).toEqual([id, books[id] ?? 0])
  })

  it('point 5: only active codes; what is unknown falls back and is told, never dropped silently', async () => {
    await store.db.query(`insert into theme (id, name) values ('falconry', 'Falconry');
      insert into country (code, name, region_name) values ('QQ', 'Nowhere', null);
      update project_theme set theme_id = 'falconry' where project_id = 20 and position = 0;
      delete from project_theme where project_id = 20 and position > 0;
      delete from project_country where project_id = 20;
      insert into project_country (project_id, position, country_code) values (20, 0, 'QQ')`)
    expect(await publishAt('2026-11-21T05:00:00Z')).toBe('published')
    let seen = 0
    await eachActivity((find) => {
      if (!find('iati-identifier')[0]?.endsWith('-20')) return
      seen++
      expect(find('sector[@vocabulary="1"]/@code')).toEqual(['99810'])
      expect(find('sector[@vocabulary="99"]/@code')).toEqual(['falconry'])
      expect(find('recipient-country/@code')).toEqual([])
      expect(find('recipient-region/@code')).toEqual(['998'])
    })
    expect(seen).toBe(1)
    const { rows } = await store.db.query<{ codes: string[] }>(
      `select array(select jsonb_object_keys(notice_counts) order by 1) as codes from rendering where project_id = 20`,
    )
    expect(rows[0]?.codes).toEqual(expect.arrayContaining(['country-unknown', 'recipient-unknown', 'sector-unknown']))
  })

  it('point 6: segments stay below 20 MB, and no activity ever moves', async () => {
    const placed = async () => {
      const { rows } = await store.db.query<{ projectId: number; segment: number }>(
        'select project_id, segment from rendering order by project_id',
      )
      return rows
    }
    const before = await placed()
    for (const { path: address, bytes } of (await publisher.manifest()).files) {
      if (/^\/iati\/activities/.test(address)) expect(bytes).toBeLessThan((20 / 12) * segmentBytes)
    }
    // One that would leave room in the first file, and a new one that would fit into it.
    await store.db.query(`update project set need = null, activities = null, long_term_impact = null where id = 1;
      insert into project (id, active, status, title, first_seen_on, source)
        values (900001, true, 'active', 'A new one', '2026-11-21', 'local')`)
    expect(await publishAt('2026-11-21T06:00:00Z')).toBe('published')
    const after = await placed()
    expect(after.slice(0, -1)).toEqual(before)
    expect(after.at(-1)).toEqual({ projectId: 900_001, segment: before.at(-1)?.segment })
    const bulk = XmlDocument.fromString(await publisher.read('/iati/bulk/activities.xml'))
    const order = bulk.find('/iati-activities/iati-activity/iati-identifier').map(({ content }) => content)
    bulk.dispose()
    expect(order).toEqual(await identifiers())
  })

  it('point 7: a run that loses too much, or is older than the live release, leaves the live files', async () => {
    const live = await publisher.manifest()
    await store.db.query('update donation_month set amount = amount / 2 where project_id % 2 = 0')
    expect(await publishAt('2026-11-21T07:00:00Z')).toBe('held')
    expect((await publisher.manifest()).release).toBe(live.release)
    await store.db.query('update donation_month set amount = amount * 2 where project_id % 2 = 0')

    const late = await createRun(store.db, { trigger: 'schedule', at: publisher.now })
    await store.db.query(`update project set summary = summary || ' It is open.' where id = 3`)
    expect(await publishAt('2026-11-21T07:30:00Z')).toBe('published')
    const newer = await publisher.manifest()
    await store.db.query(`update project set summary = summary || ' It is well.' where id = 3`)
    expect(await publisher.publish({ runId: late.id })).toMatchObject({ state: 'unchanged', releaseId: newer.release })
    expect((await publisher.manifest()).release).toBe(newer.release)
  })

  it('point 8: files and manifest switch together; a reader never meets 404 or half a file', async () => {
    let done = false
    const seen = new Set<string>()
    const follow = async () => {
      for (let last = false; !last; ) {
        // Once more after the last publication, however slow this reader is.
        last = done
        const manifest = (await (await request(`${baseUrl}/feeds/manifest.json`)).body.json()) as Manifest
        seen.add(manifest.release)
        for (const file of manifest.files.filter(({ path }) => path.startsWith('/iati/'))) {
          const live = await request(baseUrl + file.path)
          const bytes = Buffer.from(await live.body.arrayBuffer())
          expect([live.statusCode, live.headers.etag]).toEqual([200, `"${sha256(bytes)}"`])
          const kept = await request(baseUrl + file.immutablePath)
          expect(sha256(Buffer.from(await kept.body.arrayBuffer()))).toBe(file.sha256)
        }
      }
    }
    const reader = follow()
    for (const [at, summary] of [
      ['2026-11-21T08:00:00Z', 'One.'],
      ['2026-11-21T09:00:00Z', 'Two.'],
    ] as const) {
      await store.db.query('update project set summary = $1 where id in (2, 900001)', [summary])
      expect(await publishAt(at)).toBe('published')
    }
    done = true
    await reader
    expect(seen.size).toBeGreaterThan(1)
  })

  it('point 9: HEAD and GET are what the Bulk Data Service compares', async () => {
    const headers = { 'user-agent': 'IATI Bulk Data Service 0.1' }
    for (const address of await iatiFiles()) {
      const head = await request(baseUrl + address, { method: 'HEAD', headers })
      await head.body.dump()
      const compared = ['etag', 'last-modified', 'content-type', 'content-length', 'vary', 'accept-ranges'] as const
      for (const encoding of ['gzip, deflate', '', 'identity']) {
        const get = await request(baseUrl + address, { headers: { ...headers, 'accept-encoding': encoding } })
        const body = Buffer.from(await get.body.arrayBuffer())
        expect([get.statusCode, get.headers['content-encoding']]).toEqual([
          200,
          encoding === 'gzip, deflate' ? 'gzip' : undefined,
        ])
        const text = get.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
        expect(text.toString()).toBe(await publisher.read(address))
        if (encoding === 'gzip, deflate') continue
        for (const name of compared) expect([name, get.headers[name]]).toEqual([name, head.headers[name]])
      }
      expect(head.headers['content-type']).toBe('application/xml; charset=utf-8')
      expect(head.headers['last-modified']).toBe(new Date(String(head.headers['last-modified'])).toUTCString())
      const again = await request(baseUrl + address, { headers: { 'if-none-match': String(head.headers.etag) } })
      await again.body.dump()
      expect(again.statusCode).toBe(304)
    }
    const missing = await request(`${baseUrl}/iati/activities-99.xml`, { headers })
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([404, 'application/xml'])
    await missing.body.dump()
  })

  it('point 10: nothing of donors; contacts are of organisations; the exclusion policy is linked', async () => {
    for (const { path: address } of (await publisher.manifest()).files) {
      const text = await publisher.read(address)
      for (const secret of Object.values(donor)) expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
    }
    await eachActivity((find) => {
      expect(find('contact-info/person-name | contact-info/job-title | contact-info/telephone')).toEqual([])
      for (const provider of find('transaction[transaction-type/@code="1"]/provider-org[@type="90"]/narrative')) {
        expect(provider).toContain('through')
      }
    })
    const organisations = XmlDocument.fromString(await publisher.read('/iati/organisations.xml'))
    const policy = organisations.find('//document-link[category/@code="B08"]/@url').map(({ content }) => content)
    organisations.dispose()
    expect(policy).toEqual([`${mappingConfig.baseUrl}/#exclusions`])
    expect(await (await request(baseUrl)).body.text()).toContain('id="exclusions"')
  })

  it('point 11: report feeds are linked from their activities, and the ids of their entries stay', async () => {
    const { rows } = await store.db.query<{ id: string; projectId: string; url: string }>(
      `select r.id::text, r.project_id::text, r.url from progress_report r
        where r.published_at < '2026-11-21' order by r.id limit 1`,
    )
    const [report] = rows
    if (!report) throw new Error('the seed has no reports')
    const feed = `/feeds/projects/${report.projectId}/reports.atom`
    const entries = async () => {
      const document = XmlDocument.fromString(await (await request(baseUrl + feed)).body.text())
      const found = document
        .find(compiled('/a:feed/a:entry', { a: 'http://www.w3.org/2005/Atom' }))
        .map((entry) =>
          ['a:id', 'a:updated'].map(
            (what) => entry.find(compiled(what, { a: 'http://www.w3.org/2005/Atom' }))[0]?.content,
          ),
        )
      document.dispose()
      return found
    }
    const links = async () => {
      let found: string[] = []
      await eachActivity((find) => {
        if (find('iati-identifier')[0] !== `${mappingConfig.reportingOrg.ref}-${report.projectId}`) return
        found = find('document-link[category/@code="A08"][@format="application/atom+xml" or @format="text/html"]/@url')
      })
      return found
    }
    const linked = await links()
    expect(linked).toEqual(expect.arrayContaining([mappingConfig.baseUrl + feed, report.url]))
    const before = await entries()
    expect(before.map(([id]) => id)).toContain(report.url)
    await store.db.query(
      `update progress_report set title = 'A corrected title', updated_at = '2026-11-21T09:30:00Z' where id = $1`,
      [report.id],
    )
    expect(await publishAt('2026-11-21T10:00:00Z')).toBe('published')
    const after = await entries()
    expect(after.map(([id]) => id)).toEqual(before.map(([id]) => id))
    expect(await links()).toEqual(linked)
    expect(after.filter(([, updated], index) => updated !== before[index]?.[1])).toHaveLength(1)
  })

  it('point 12: budgets last at most 12 months and look forward; status and dates agree', async () => {
    const today = isoDateOf(publisher.now)
    let forward = 0
    let active = 0
    await eachActivity((find, activity) => {
      const [identifier = ''] = find('iati-identifier')
      const budgets = activity.find(compiled('budget')).map((budget) => {
        const at = (name: string) => budget.find(compiled(`${name}/@iso-date`))[0]?.content ?? ''
        return { type: budget.find(compiled('@type'))[0]?.content, start: at('period-start'), end: at('period-end') }
      })
      for (const { start, end } of budgets) {
        expect(start <= end, identifier).toBe(true)
        expect((Date.parse(end) - Date.parse(start)) / 86_400_000, identifier).toBeLessThanOrEqual(365)
      }
      const [status] = find('activity-status/@code')
      const date = (type: number) => find(`activity-date[@type="${type}"]/@iso-date`)[0]
      expect(date(1) ?? date(2), identifier).toBeDefined()
      expect((date(3) ?? '9999') >= (date(1) ?? ''), identifier).toBe(true)
      expect((date(4) ?? '9999') >= (date(2) ?? ''), identifier).toBe(true)
      expect(date(4), `${identifier}: an actual end that no record states`).toBeUndefined()
      if (status === '2' && find('@budget-not-provided').length === 0 && find('budget').length > 0) {
        active++
        const planned = date(3)
        if (budgets.some(({ end }) => end >= today) || (planned !== undefined && planned < today)) forward++
      }
    })
    expect(active).toBeGreaterThan(seeded / 10)
    expect(forward).toBe(active)
  })
})
