import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type ImportOptions, importFiles } from '../../../src/catalogue/import/import.js'
import { importExitCode } from '../../../src/catalogue/import/import-summary.js'
import { projectGraphs } from '../../../src/catalogue/sql/project-graphs.js'
import { projectTexts } from '../../../src/catalogue/wire/write/project.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import { testDatabase } from '../../support/store/database.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
const realPage = realRecords('an import of real records')
const { store } = await testDatabase()
const folder = await temporaryFolder()

const march = {
  source: 'import',
  clock: () => new Date('2026-03-10T08:00:00Z'),
  currency: 'USD' as CurrencyCode,
} as const

async function importing(files: string | readonly string[], options: Partial<ImportOptions> = {}) {
  return await importFiles(store, [files].flat(), { ...march, ...options })
}

async function rows(sql: string): Promise<object[]> {
  return (await store.db.query<object>(sql)).rows
}

let pages = 0
async function page(...records: readonly object[]): Promise<string> {
  const file = path.join(folder, `page-${pages++}.json`)
  await writeFile(file, JSON.stringify({ projects: { project: records } }))
  return file
}

const aRecord = (id: number, fields: object = {}) => ({
  id,
  active: true,
  status: 'active',
  title: `Project ${id}`,
  funding: '100.00',
  numberOfDonations: 4,
  modifiedDate: '2025-12-24T23:30:00-05:00',
  ...fields,
})

const months = (id: number) =>
  rows(`select month, currency, kind, source, amount, count, last_on from donation_month where project_id = ${id}
    order by month, kind`)

/** The versions of all projects: a number moves when the project is marked as changed. */
const versions = () => rows(`select project_id, version from project_version order by project_id`)

describe('importing a page of odd but good records', { shuffle: false }, () => {
  it('creates them, with everything that belongs to them', async () => {
    const twice = { field: 'id', expected: 'what stands on one line of a file; line 102 has it too', got: '7002' }
    expect(await importing(fixture('projects-odd.xml'))).toEqual({
      import: expect.any(Number),
      files: 1,
      brokenFiles: 0,
      records: 4,
      created: 3,
      changed: 0,
      unchanged: 0,
      repeated: 1,
      differing: 0,
      refused: 0,
      kept: 0,
      problems: [{ file: fixture('projects-odd.xml'), line: 131, recordId: '7002', ...twice }],
      problemCount: 1,
      groups: [expect.objectContaining({ count: 1, field: 'id' })],
      refusedTo: [],
      receipt: {
        rows: { in: 4, taken: 3, refused: 0, leftOut: 0, replaced: 1, known: 0 },
        ...{ sums: [], unreadable: 0 },
      },
    })
    expect(
      await rows(`select id, title, funding, country_code, source, first_seen_on, organisation_id, latitude, activities,
        image_title, contact_state from project where id between 7001 and 7003 order by id`),
    ).toMatchObject([
      {
        id: 7001,
        title: 'Wells for Tara',
        latitude: '7.539200782775879',
        activities: '<p>Drill &amp; cap four wells.</p>',
        source: 'import',
        firstSeenOn: '2026-03-10',
        organisationId: 318,
        contactState: undefined,
        imageTitle: 'Wells for Tara',
      },
      // The later one of two records with this id.
      { id: 7002, title: 'Desks and chairs', funding: '700.000', countryCode: 'NP', organisationId: undefined },
      { id: 7003, title: 'Roof for a school' },
    ])
    expect(
      await rows(`select bridge_id::text, ein, address_line2, org_ref, org_type, stated_total_projects as total,
        stated_active_projects as active from organisation where id = 318`),
    ).toEqual([
      {
        bridgeId: '9223372036854775807',
        ein: '00-1234567',
        addressLine2: undefined,
        orgRef: undefined,
        orgType: undefined,
        total: 4,
        active: 1,
      },
    ])
    expect(
      await rows(`select code, name, region_name from country where code in ('GN', 'NP', 'SL') order by code`),
    ).toEqual([
      { code: 'GN', name: 'Guinea', regionName: undefined },
      // Its only record with a list was replaced by one that names nothing but the code.
      { code: 'NP', name: 'NP', regionName: 'Asia and Oceania' },
      { code: 'SL', name: 'Sierra Leone', regionName: 'Africa' },
    ])
    expect(await rows(`select id, name, sector_code from theme where id in ('dancing', 'water') order by id`)).toEqual([
      { id: 'dancing', name: 'Dancing', sectorCode: undefined },
      { id: 'water', name: 'Clean Water', sectorCode: '14031' },
    ])
    expect(
      await rows(`select position, wire_id, consent, small_url, original_url from photo where project_id = 7001`),
    ).toEqual([
      {
        position: 0,
        wireId: 0,
        consent: false,
        smallUrl: 'https://giving.example/img/7001/small.jpg',
        originalUrl: 'https://giving.example/img/7001/original.jpg',
      },
    ])
    expect(await rows(`select url from video where project_id = 7001 order by position`)).toEqual([
      { url: '' },
      { url: 'https://video.example/watch?v=1&t=2' },
    ])
    expect(await rows(`select amount, description from donation_option where project_id = 7001`)).toEqual([
      { amount: '25.000', description: 'buys tools for one caretaker' },
    ])
    expect(
      await rows(`select country_code, share from project_country where project_id = 7001 order by position`),
    ).toEqual([
      { countryCode: 'SL', share: undefined },
      { countryCode: 'GN', share: undefined },
    ])
  })

  it('enters a total as one opening on the day it is cumulative to, in UTC and never in the future', async () => {
    expect(await months(7001)).toEqual([
      {
        month: '2026-02-01',
        currency: 'USD',
        kind: 'opening',
        source: 'import',
        amount: '1250.500',
        count: 37,
        lastOn: '2026-02-01',
      },
    ])
    expect(await months(7002)).toMatchObject([
      // Its page names no later day that is not in the future.
      { month: '2026-02-01', lastOn: '2026-02-01', amount: '700.000', count: 4 },
    ])
    expect(await months(7003)).toEqual([])
  })

  it('touches nothing when the same page comes again', async () => {
    const before = await versions()
    // The first of the two records of one project never was written, so the last one decides again.
    expect(await importing(fixture('projects-odd.xml'))).toMatchObject({
      created: 0,
      changed: 0,
      unchanged: 3,
      repeated: 1,
    })
    expect(await versions()).toEqual(before)
  })
})

describe('importing a page with bad records', { shuffle: false }, () => {
  it('keeps the good ones and names file, record, line, field and value of the bad ones', async () => {
    const file = fixture('projects-bad.xml')
    const summary = await importing(file)
    expect(summary).toMatchObject({ records: 7, created: 2, refused: 5 })
    expect(importExitCode(summary)).toBe(1)
    expect(summary.problems.map(({ recordId, line, field, got }) => [recordId, line, field, got])).toEqual([
      ['7102', 4, 'active', 'yes'],
      ['7103', 5, 'status', 'open'],
      ['7103', 5, 'funding', '1e3'],
      ['seven', 6, 'id', 'seven'],
      ['7105', 7, 'approvedDate', '16/05/2003'],
      ['7106', 8, 'title', ' '],
      ['7106', 8, 'funding', '-1'],
    ])
    expect(summary.problems.every((problem) => problem.file === file)).toBe(true)
  })

  it('does the same for JSON', async () => {
    const summary = await importing(fixture('projects-odd.json'))
    expect(summary).toMatchObject({ records: 6, created: 2, refused: 4 })
    // The page of the other file, which may have been read before, is newer.
    const ofRecords = summary.problems.filter(({ field }) => field !== 'organization 318')
    expect(ofRecords.map(({ recordId, field }) => [recordId, field])).toEqual([
      ['7203', 'funding'],
      ['7204', 'title'],
      [undefined, 'record'],
      [undefined, '__proto__'],
    ])
    expect(await rows(`select unknown_fields, contact_postal, latitude, goal from project where id = 7201`)).toEqual([
      {
        unknownFields: { contactEmail: 'office@tarawater.example' },
        contactPostal: '232',
        latitude: '7.539200782775879',
        goal: '8000.000',
      },
    ])
  })

  it('keeps the others of a batch when only the database notices that one is bad', async () => {
    await store.db.query(`alter table project add constraint test_no_poison check (title <> 'poison')`)
    const file = await page(aRecord(7301), aRecord(7302, { title: 'poison' }), aRecord(7303))
    const summary = await importing(file)
    await store.db.query(`alter table project drop constraint test_no_poison`)
    expect(summary).toMatchObject({ created: 2, refused: 1 })
    expect(summary.problems).toMatchObject([{ file, recordId: '7302', field: 'record' }])
    expect(await rows(`select id from project where id between 7301 and 7303 order by id`)).toEqual([
      { id: 7301 },
      { id: 7303 },
    ])
  })

  it('counts all refusals and shows the first hundred', async () => {
    const bad = Array.from({ length: 130 }, (_, index) => aRecord(7400 + index, { status: 'odd' }))
    const summary = await importing(await page(...bad))
    expect(summary.refused).toBe(130)
    expect(summary.problems).toHaveLength(100)
    expect(importExitCode(summary)).toBe(2)
  })

  it('imports what comes before the damage of a file, and the next file', async () => {
    const damaged = path.join(folder, 'damaged.xml')
    await writeFile(
      damaged,
      `<projects><project><active>true</active><funding>1</funding><id>7501</id><status>active</status>
       <title>Before</title></project><project><title>&nope;</title></project></projects>`,
    )
    const summary = await importing([damaged, path.join(folder, 'absent.xml'), await page(aRecord(7502))])
    expect(summary).toMatchObject({ files: 3, brokenFiles: 2, created: 2, refused: 0 })
    expect(summary.problems.map(({ file, field }) => [path.basename(file), field])).toEqual([
      ['absent.xml', 'file'],
      ['damaged.xml', 'file'],
    ])
    expect(importExitCode(summary)).toBe(1)
  })

  it.each([
    ['another root', '<search><project/></search>'],
    ['neither XML nor JSON', 'id,title\n1,x\n'],
    ['a DOCTYPE', '<!DOCTYPE projects [<!ENTITY a "b">]><projects/>'],
    ['nothing', ''],
  ])('finds nothing usable in %s', async (name, text) => {
    const file = path.join(folder, `${name.replaceAll(' ', '-')}.txt`)
    await writeFile(file, text)
    const summary = await importing(file)
    expect(summary).toMatchObject({ brokenFiles: 1, records: 0 })
    expect(importExitCode(summary)).toBe(2)
  })
})

describe('importing a record again', { shuffle: false }, () => {
  it('writes only the record that changed, and marks only its project', async () => {
    await importing(await page(aRecord(7601), aRecord(7602, { videos: { video: [{ url: 'https://v.example/1' }] } })))
    const before = await versions()
    const changed = aRecord(7602, { title: 'New title', videos: { video: [{ url: 'https://v.example/2' }] } })
    expect(await importing(await page(aRecord(7601), changed))).toMatchObject({ created: 0, changed: 1, unchanged: 1 })
    const after = await versions()
    expect(after.filter((row) => !before.some((old) => JSON.stringify(old) === JSON.stringify(row)))).toMatchObject([
      { projectId: 7602 },
    ])
    expect(await rows(`select url from video where project_id = 7602`)).toEqual([{ url: 'https://v.example/2' }])
  })

  it('enters a later difference in the current month: more as a gift, less as a refund', async () => {
    const clock = (text: string) => ({ clock: () => new Date(text) })
    await importing(await page(aRecord(7611)))
    const more = aRecord(7611, { funding: '150.50', numberOfDonations: 6 })
    await importing(await page(more), clock('2026-04-02T00:00:00Z'))
    const evenMore = aRecord(7611, { funding: '160.50', numberOfDonations: 7 })
    await importing(await page(evenMore), clock('2026-04-20T00:00:00Z'))
    const less = aRecord(7611, { funding: '120.50', numberOfDonations: 6 })
    await importing(await page(less), clock('2026-05-05T00:00:00Z'))
    const common = { currency: 'USD', source: 'import' }
    expect(await months(7611)).toEqual([
      { ...common, month: '2025-12-01', kind: 'opening', amount: '100.000', count: 4, lastOn: '2025-12-25' },
      { ...common, month: '2026-04-01', kind: 'gift', amount: '60.500', count: 3, lastOn: '2026-04-20' },
      { ...common, month: '2026-05-01', kind: 'refund', amount: '-40.000', count: 1, lastOn: '2026-05-05' },
    ])
    expect(await importing(await page(less), clock('2026-06-05T00:00:00Z'))).toMatchObject({ unchanged: 1 })
    expect(await months(7611)).toHaveLength(3)
  })

  it.each<readonly [string, object, string]>([
    ['the newest report of its page', { dateOfMostRecentReport: '2012-05-06T08:00:00Z' }, '2012-05-06'],
    ['the day of the import, where nothing newer is known than its approval', {}, '2026-03-10'],
    [
      'its own last change',
      { modifiedDate: '2011-02-03T08:00:00Z', dateOfMostRecentReport: '2010-01-01T00:00:00Z' },
      '2011-02-03',
    ],
    [
      'its newest report, which its last change does not know',
      { modifiedDate: '2009-02-03T08:00:00Z', dateOfMostRecentReport: '2010-01-01T00:00:00Z' },
      '2010-01-01',
    ],
  ])('dates an opening total to %s', async (_what, dates, day) => {
    const id = 7630 + Number(day.slice(2, 4))
    const old = { approvedDate: '2004-06-01T10:00:00-04:00', modifiedDate: undefined, funding: '2570984.70' }
    await importing(await page(aRecord(id, { ...old, ...dates }), aRecord(id + 50, old)))
    expect(await months(id)).toMatchObject([{ kind: 'opening', month: `${day.slice(0, 8)}01`, lastOn: day }])
    expect(await months(id + 50)).toMatchObject([{ kind: 'opening', lastOn: day }])
  })

  it('leaves the names of themes: another spelling is an alias, and changes no project', async () => {
    const theme = (name: string) => ({ themes: { theme: [{ id: 'ecdev', name }] } })
    await importing(await page(aRecord(7661, theme('Economic Growth'))))
    const before = await versions()
    await importing(await page(aRecord(7662, theme('Economic Development'))))
    expect(
      (await versions()).filter((row) => !before.some((old) => JSON.stringify(old) === JSON.stringify(row))),
    ).toEqual([expect.objectContaining({ projectId: 7662 })])
    expect(await rows(`select name from theme where id = 'ecdev'`)).toEqual([{ name: 'Economic Growth' }])
    expect(await rows(`select name from theme_alias where theme_id = 'ecdev'`)).toEqual([
      { name: 'Economic Development' },
    ])
    await importing(await page(aRecord(7663, { themes: { theme: [{ id: 'finance', name: 'Microfinance' }] } })))
    expect(await rows(`select sector_code from theme where id = 'finance'`)).toEqual([{ sectorCode: '24040' }])
  })

  it('tells an empty text from an absent one, in the store and in the API', async () => {
    const empty = { contactName: '', contactTitle: '', contactAddress2: '', additionalDocumentation: '', notice: '' }
    const organization = { id: 402, name: 'Empty', ein: '', addressLine1: '' }
    await importing(
      await page(aRecord(7685, { ...empty, organization, videos: { video: [{ url: '' }] } }), aRecord(7686)),
    )
    const [full, bare] = (await projectGraphs(store.db, [7685, 7686])).map(projectTexts)
    const shown = JSON.parse(full?.json ?? '')
    expect(shown).toMatchObject({
      ...empty,
      organization: { ein: '', addressLine1: '' },
      videos: { video: [{ url: '' }] },
    })
    expect(full?.xml).toContain('<notice></notice>')
    const absent = JSON.parse(bare?.json ?? '')
    for (const name of [...Object.keys(empty), 'videos']) expect(absent).not.toHaveProperty(name)
  })

  it('refuses a donation option that is not a whole amount, instead of rounding it', async () => {
    const options = (amount: string) => ({ donationOptions: { donationOption: [{ amount, description: 'x' }] } })
    const summary = await importing(await page(aRecord(7687, options('10.5')), aRecord(7688, options('10.00'))))
    expect(summary).toMatchObject({ created: 1, refused: 1 })
    expect(summary.problems).toMatchObject([
      {
        recordId: '7687',
        field: 'donationOptions/amount',
        expected: expect.stringContaining('whole number'),
        got: '10.5',
      },
    ])
    await expect(rows(`insert into donation_option values (7688, 1, 12.5, null)`)).rejects.toThrow(
      'option_amount_is_whole',
    )
  })

  it('keeps what a newer page says of a project and of an organisation, unless it is told otherwise', async () => {
    const organization = (name: string) => ({ id: 401, name })
    const newer = await page(aRecord(7680, { modifiedDate: '2024-05-01T00:00:00Z', organization: organization('New') }))
    const older = await page(
      aRecord(7680, { modifiedDate: '2020-05-01T00:00:00Z', title: 'Old', organization: organization('Old') }),
      aRecord(7681, { modifiedDate: '2019-01-01T00:00:00Z', organization: organization('Old') }),
    )
    await importing(newer)
    const before = await versions()
    const summary = await importing(older)
    expect(summary).toMatchObject({ created: 1, changed: 0, unchanged: 1, refused: 0, kept: 2 })
    expect(summary.problems).toMatchObject([
      { recordId: '7680', field: 'modifiedDate', got: '2020-05-01T00:00:00Z' },
      { recordId: '7681', field: 'organization 401', got: '2020-05-01T00:00:00Z' },
    ])
    expect(summary.problems[0]?.expected).toContain('2024-05-01T00:00:00Z')
    const stored = `select p.title, o.name from project p join organisation o on o.id = organisation_id
      where p.id in (7680, 7681) order by p.id`
    expect(await rows(stored)).toEqual([
      { title: 'Project 7680', name: 'New' },
      { title: 'Project 7681', name: 'New' },
    ])
    const after = await versions()
    expect(after).toEqual(expect.arrayContaining(before.filter((row) => JSON.stringify(row).includes('"7680"'))))
    expect(await importing(older, { force: true })).toMatchObject({ changed: 1, unchanged: 1, kept: 0 })
    expect(await rows(stored)).toMatchObject([{ title: 'Old', name: 'Old' }, { name: 'Old' }])
  })

  it.each([
    ['its name', 'Education', 'edu'],
    ['an earlier name, in any letter case', 'women and girls', 'gender'],
    ['an alias', 'Lessons', 'edu'],
    ['nothing, where no theme is called so', 'Dancing on ice', undefined],
  ])('gives a record without a list of themes the one that has %s', async (_what, themeName, id) => {
    await importing(await page(aRecord(7675, { themes: { theme: [{ id: 'edu', name: 'Education' }] } })))
    await rows(`insert into theme_alias values ('Lessons', 'edu') on conflict do nothing`)
    await importing(await page(aRecord(7676, { themeName })))
    const themes = id === undefined ? [] : [{ themeId: id }]
    expect(await rows('select theme_id from project_theme where project_id = 7676')).toEqual(themes)
  })

  it.each([
    ['that the store has placed', 'KE', 'East'],
    ['where geography has it', 'PE', 'South/Central America and the Caribbean'],
  ])('places a project without a region in that of its country %s', async (_where, code, region) => {
    await rows(`insert into region values ('East') on conflict do nothing`)
    await rows(
      `insert into country values ('KE', 'Kenya', 'East') on conflict (code) do update set region_name = 'East'`,
    )
    await importing(await page(aRecord(7670, { iso3166CountryCode: code })))
    expect(await rows('select region_name from project where id = 7670')).toEqual([{ regionName: region }])
    expect(await rows(`select region_name from country where code = '${code}'`)).toEqual([{ regionName: region }])
  })

  it('keeps what the operator decided', async () => {
    const image = { id: 0, imagelink: [{ size: 'original', url: 'https://giving.example/a.jpg' }] }
    await importing(await page(aRecord(7621, { image, themes: { theme: [{ id: 'edu', name: 'Education' }] } })))
    await store.db.query(`update project set paused = true, location_precision = 'country' where id = 7621`)
    await store.db.query(`update theme set sector_code = '11110' where id = 'edu'`)
    await store.db.query(`update photo set consent = true where project_id = 7621`)
    const again = aRecord(7621, {
      image,
      title: 'Changed',
      themes: { theme: [{ id: 'edu', name: 'Education for all' }] },
    })
    await importing(await page(again))
    expect(
      await rows(`select p.title, paused, location_precision, first_seen_on, t.name, t.sector_code, f.consent from project p
        join project_theme on project_id = p.id join theme t on t.id = theme_id join photo f on f.project_id = p.id
        where p.id = 7621`),
    ).toEqual([
      {
        title: 'Changed',
        paused: true,
        locationPrecision: 'country',
        firstSeenOn: '2026-03-10',
        name: 'Education',
        sectorCode: '11110',
        consent: true,
      },
    ])
    const other = { id: 0, imagelink: [{ size: 'original', url: 'https://giving.example/b.jpg' }] }
    await importing(await page(aRecord(7621, { image: other })))
    expect(await rows(`select consent, original_url from photo where project_id = 7621`)).toEqual([
      { consent: false, originalUrl: 'https://giving.example/b.jpg' },
    ])
  })

  it('never overwrites projects or organisations of another source', async () => {
    await store.db.query(`insert into organisation (id, name, source) values (901, 'Ours', 'local')`)
    await store.db.query(`insert into project (id, active, status, title, source) values
      (7631, true, 'active', 'Local', 'local'), (7632, true, 'active', 'Demo', 'demo'), (7633, true, 'active', 'Mirrored', 'upstream')`)
    const before = await versions()
    const file = await page(
      aRecord(7631),
      aRecord(7632),
      aRecord(7633),
      aRecord(7634, { organization: { id: 901, name: 'Theirs' } }),
      aRecord(7635),
    )
    const summary = await importing(file)
    expect(summary).toMatchObject({ created: 1, refused: 4 })
    expect(summary.problems.map(({ recordId, field, got }) => [recordId, field, got])).toEqual([
      ['7631', 'id', 'project 7631, which is local'],
      ['7632', 'id', 'project 7632, which is demo'],
      ['7633', 'id', 'project 7633, which is upstream'],
      ['7634', 'organization/id', 'organisation 901, which is local'],
    ])
    expect((await versions()).filter((row) => !('projectId' in row && row.projectId === 7635))).toEqual(before)
    expect(await rows(`select name from organisation where id = 901`)).toEqual([{ name: 'Ours' }])
  })

  it('refuses a platform currency other than the one of earlier imports', async () => {
    await expect(importing(await page(aRecord(7641)), { currency: 'EUR' as CurrencyCode })).rejects.toMatchObject({
      code: 'configuration-invalid',
    })
  })

  it('stops between batches when it is interrupted, and keeps what is written', async () => {
    const file = await page(...Array.from({ length: 250 }, (_, index) => aRecord(7700 + index)))
    const interruption = new AbortController()
    // Progress is told when the whole small file has been consumed but for its last, unfilled batch.
    const options = { signal: interruption.signal, onProgress: () => interruption.abort() }
    await expect(importing(file, options)).rejects.toMatchObject({ code: 'aborted' })
    expect(await importing(file)).toMatchObject({ created: 50, unchanged: 200 })
  })
})

describe('importing a page of a real platform', { shuffle: false }, () => {
  it('takes all 50 records, and changes nothing the second time', async ({ skip }) => {
    if (!realPage) return skip('TEST_FILES has no real records')
    expect(await importing(realPage)).toMatchObject({ records: 50, created: 50, refused: 0, problems: [] })
    const before = await versions()
    expect(await importing(realPage)).toMatchObject({ created: 0, changed: 0, unchanged: 50, refused: 0 })
    expect(await versions()).toEqual(before)
    expect(
      await rows(`select count(*)::integer as without from theme where sector_code is null and id <> 'dancing'`),
    ).toEqual([{ without: 0 }])
  })
})

describe('the element iati, which the wire format does not have', { shuffle: false }, () => {
  const planned = (reference: string, day: string, amount = '250.00') => ({ reference, day, amount })
  const told = () =>
    rows(`select deadline::text, glide_number, location_name, location_precision, o.org_ref, o.org_type,
        (select array_agg(code order by code) from project_sdg where project_id = p.id) as sdgs,
        (select array_agg(concat_ws(' ', reference, planned_on, amount, currency) order by reference) from payout_plan
          where project_id = p.id) as payouts
      from project p join organisation o on o.id = p.organisation_id where p.id = 917701`)

  it('brings what publishing needs; what it leaves out stays', async () => {
    const iati = {
      deadline: '2027-06-30',
      glideNumber: 'FL-2026-000123-SLE',
      locationName: 'Bo',
      locationPrecision: 'country',
      sdgs: { sdg: ['6.1', '13'] },
      payouts: { payout: [planned('A-1', '2026-12-01'), planned('A-2', '2027-03-01')] },
    }
    const organization = { id: 917702, name: 'Tara', iati: { ref: 'GB-CHC-1234567', type: '22' } }
    await importing(await page(aRecord(917701, { iati, organization })))
    const expected = {
      deadline: '2027-06-30',
      glideNumber: 'FL-2026-000123-SLE',
      locationName: 'Bo',
      locationPrecision: 'country',
      orgRef: 'GB-CHC-1234567',
      orgType: '22',
      sdgs: ['13', '6.1'],
      payouts: ['A-1 2026-12-01 250.000 USD', 'A-2 2027-03-01 250.000 USD'],
    }
    expect(await told()).toEqual([expected])

    await importing(await page(aRecord(917701, { title: 'Another title', organization: { id: 917702, name: 'Tara' } })))
    expect(await told()).toEqual([expected])

    const fewer = { sdgs: '', payouts: { payout: planned('A-2', '2027-04-01', '300') } }
    await importing(await page(aRecord(917701, { iati: fewer, organization: { id: 917702, name: 'Tara' } })))
    expect(await told()).toEqual([{ ...expected, payouts: ['A-2 2027-04-01 300.000 USD'] }])
  })

  it('gives a payout to the first of two records that claim it', async () => {
    const iati = { payouts: { payout: planned('C-1', '2027-01-01') } }
    expect(await importing(await page(aRecord(917790, { iati }), aRecord(917791, { iati })))).toMatchObject({
      created: 1,
      refused: 1,
    })
  })

  it.each([
    [{ deadline: '2027-02-30' }, 'iati/deadline'],
    [{ glideNumber: 'flood' }, 'iati/glideNumber'],
    [{ sdgs: { sdg: '18' } }, 'iati/sdgs/sdg'],
    [{ payouts: { payout: planned('B-1', 'soon') } }, 'iati/payouts/day'],
    [{ payouts: { payout: planned('B-1', '2027-01-01', '0') } }, 'iati/payouts/amount'],
    [{ payouts: { payout: planned('A-2', '2027-01-01') } }, 'iati/payouts/reference'],
  ])('refuses a record with %j', async (iati, field) => {
    const summary = await importing(await page(aRecord(917710, { iati })))
    expect(summary).toMatchObject({ created: 0, refused: 1 })
    expect(JSON.stringify(summary)).toContain(field)
  })
})
