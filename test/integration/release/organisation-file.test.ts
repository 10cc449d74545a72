import { describe, expect, it } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { createXsdValidator, validateFile } from '../../../src/iati/validation/index.js'
import { pathOnDisk } from '../../support/release/path-on-disk.js'
import { coreFiles, testPublisher } from '../../support/release/publishing.js'
import { partsInOrder } from '../../support/runner/in-order.js'
import { testDatabase } from '../../support/store/database.js'
import { officialStandard } from '../../support/values/borrowed-files.js'
import { day, mappingConfig } from '../../support/values/builders.js'

const address = '/iati/organisations.xml'
const standard = officialStandard('the official schema over the organisation file')
const { store } = await testDatabase()
const { currency, baseUrl } = mappingConfig
await seed(store, { projects: 60, source: 'local', firstId: 1, today: day('2026-11-20'), currency, baseUrl })
const publisher = await testPublisher(store, coreFiles)
// Amounts of another currency belong to no sum of this one.
await store.db.query(`insert into disbursement (project_id, reference, disbursed_on, amount, currency, source)
    values (1, 'euros', '2025-06-30', 500, 'EUR', 'local')`)
await store.db.query(`insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
    values ('planned euros', 1, '2026-12-01', 500, 'EUR', 'local')`)
expect((await publisher.publish()).state).toBe('published')

async function fileOf(): Promise<{ fingerprint: string; records: number; lastModified: string }> {
  const file = (await publisher.manifest()).files.find(({ path }) => path === address)
  if (!file) throw new Error('the manifest has no organisation file')
  return file
}

async function one(sql: string): Promise<Record<string, unknown>> {
  const { rows } = await store.db.query<Record<string, unknown>>(sql)
  return rows[0] ?? {}
}

/** The values of the elements of that name, in the order of the file. */
function valuesOf(text: string, name: string): string[] {
  const pattern = new RegExp(`<${name}[ >].*?<value [^>]*>([^<]*)</value>.*?</${name}>`, 'g')
  return [...text.matchAll(pattern)].map(([, value = '']) => value)
}

partsInOrder()

describe('the organisation file', { shuffle: false }, () => {
  it('has the publisher first, then each partner with an identifier once', async () => {
    const text = await publisher.read(address)
    const identifiers = [...text.matchAll(/<organisation-identifier>([^<]*)</g)].map(([, id = '']) => id)
    const { partners } =
      await one(`select count(distinct coalesce(org_ref, 'US-EIN-' || replace(ein, '-', '')))::integer as partners
      from organisation o where (org_ref is not null or ein is not null) and exists (select from project where organisation_id = o.id)`)
    expect(identifiers[0]).toBe(mappingConfig.reportingOrg.ref)
    expect(new Set(identifiers).size).toBe(identifiers.length)
    expect(identifiers.length).toBe(Number(partners) + 1)
    expect((await fileOf()).records).toBe(identifiers.length)
    expect(text.match(/secondary-reporter="1"/g)?.length).toBe(partners)
  })

  it('adds up what was paid and kept in the last three years, and what is planned in the next', async () => {
    const text = await publisher.read(address)
    const { y2025, y2026, planned } = await one(`select
      (select sum(amount) from disbursement where extract(year from disbursed_on) = 2025 and currency = 'USD')
        + (select sum(amount) from donation_month where kind = 'fee' and extract(year from month) = 2025) as y2025,
      (select sum(amount) from disbursement where extract(year from disbursed_on) = 2026)
        + (select sum(amount) from payout_plan p where planned_on between '2026-11-22' and '2026-12-31' and currency = 'USD'
            and not exists (select from disbursement d where d.reference = p.reference)) as y2026,
      (select sum(amount) from payout_plan p join project on project.id = project_id join organisation o on o.id = organisation_id
        where planned_on between '2026-11-22' and '2028-12-31' and p.currency = 'USD' and (o.org_ref is not null or o.ein is not null)) as planned`)
    expect(valuesOf(text, 'total-expenditure')).toHaveLength(3)
    expect(Number(valuesOf(text, 'total-expenditure').at(-1))).toBe(Number(y2025))
    expect(valuesOf(text, 'total-budget')).toHaveLength(3)
    expect(Number(valuesOf(text, 'total-budget')[0])).toBe(Number(y2026))
    const cents = valuesOf(text, 'recipient-org-budget').reduce(
      (sum, value) => sum + Math.round(Number(value) * 100),
      0,
    )
    expect(cents).toBe(Math.round(Number(planned) * 100))
  })

  it('passes our checks, and the official schema where it is there', async () => {
    const release = await publisher.live()
    const file = await release.find(address)
    const xsd = standard === undefined ? undefined : await createXsdValidator(standard)
    const report = await validateFile(await pathOnDisk(file?.identity), {
      context: { today: day('2026-11-21'), reportingOrgRef: mappingConfig.reportingOrg.ref },
      ...(xsd && { xsd }),
    })
    xsd?.dispose()
    expect(report).toMatchObject({ complete: true, summary: { errors: 0, warnings: 0 } })
  })

  it('stays byte for byte when something else changes, and a changed partner moves only its own record', async () => {
    const before = { text: await publisher.read(address), file: await fileOf() }
    publisher.now = new Date('2026-11-21T03:00:00Z')
    await store.db.query(`update project set title = title || '!' where id = 1`)
    await publisher.publish()
    expect(await fileOf()).toMatchObject({
      lastModified: before.file.lastModified,
      fingerprint: before.file.fingerprint,
    })

    publisher.now = new Date('2026-11-21T04:00:00Z')
    const { id } = await one(`select o.id from organisation o join project p on p.organisation_id = o.id
      where o.org_ref is not null and not exists (select from payout_plan join project q on q.id = project_id
        where q.organisation_id = o.id) order by o.id limit 1`)
    await store.db.query(`update organisation set name = 'A new name' where id = $1`, [id])
    await publisher.publish()
    const after = await publisher.read(address)
    const lines = before.text.split('\n')
    const changed = after.split('\n').filter((line, index) => line !== lines[index])
    // The root, for its generated-datetime, and the partner.
    expect(changed).toHaveLength(2)
    expect(changed[1]).toContain('A new name')
    expect((await fileOf()).lastModified).toBe('2026-11-21T04:00:00Z')
  })

  it("moves the publisher's last-updated-datetime only with the publisher's record", async () => {
    const updated = async () => /last-updated-datetime="([^"]*)"/.exec(await publisher.read(address))?.[1]
    expect(await updated()).toBe('2026-11-21T02:00:00Z')
    publisher.now = new Date('2026-11-21T05:00:00Z')
    await store.db.query(`insert into disbursement (project_id, reference, disbursed_on, amount, currency, source)
      values (1, 'late-2025', '2025-12-30', 12.50, 'USD', 'local')`)
    await publisher.publish()
    expect(await updated()).toBe('2026-11-21T05:00:00Z')
  })

  it('leaves the plan of a day that has come to the transactions', async () => {
    await store.db.query(`insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
      values ('tomorrow', 1, '2026-11-22', 7777.77, 'USD', 'local')`)
    publisher.now = new Date('2026-11-21T06:00:00Z')
    await publisher.publish()
    expect(await publisher.read('/iati/activities.xml')).toContain('>7777.77</value>')
    publisher.now = new Date('2026-11-22T06:00:00Z')
    await publisher.publish()
    expect(await publisher.read('/iati/activities.xml')).not.toContain('>7777.77</value>')
  })
})

describe('what the organisation file is made from', { shuffle: false }, () => {
  const marks = async () =>
    Number((await one(`select count(*) from content_change where kind = 'organisations'`)).count)
  const total = async () => valuesOf(await publisher.read(address), 'total-budget')[0]

  it('is not read while nobody says that it changed, until a forced run or the next day', async () => {
    publisher.now = new Date('2026-11-23T02:00:00Z')
    await store.db.query(`update project set title = title || '!' where id = 1`)
    await publisher.publish()
    const before = { text: await publisher.read(address), record: (await publisher.manifest()).publisherRecord }
    const totalBefore = await total()
    expect(await marks()).toBe(0)

    // Nobody tells of this plan and of an identifier that was not recorded: the proof that they are not looked for.
    await store.db.query(`insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
      values ('unmarked', 1, '2026-12-20', 1000, 'USD', 'local')`)
    await store.db.query('delete from published_identifier where project_id = 2')
    await store.db.query('delete from content_change')
    publisher.now = new Date('2026-11-23T03:00:00Z')
    await store.db.query(`update project set title = title || '!' where id = 1`)
    expect((await publisher.publish()).state).toBe('published')
    expect(await publisher.read(address)).toBe(before.text)
    expect((await publisher.manifest()).publisherRecord).toEqual(before.record)
    const recorded = () => one('select project_id::integer from published_identifier where project_id = 2')
    expect(await recorded()).toEqual({})

    expect((await publisher.publish({ force: true })).state).toBe('published')
    expect(await recorded()).toEqual({ projectId: 2 })
    expect(Number(await total())).toBe(Number(totalBefore) + 1000)

    await store.db.query(`insert into published_identifier values ('XM-GONE', 999, 1, 'x', now())`)
    await store.db.query(`update project set title = title || '!' where id = 1`)
    publisher.now = new Date('2026-11-24T02:00:00Z')
    expect(await publisher.publish()).toMatchObject({ state: 'held', reason: expect.stringContaining('XM-GONE') })
  })

  it.each([
    `update disbursement set amount = amount + 1 where project_id = 1`,
    `insert into disbursement (project_id, reference, disbursed_on, amount, currency) values (1, 'new', '2026-01-01', 1, 'USD')`,
    `delete from disbursement where project_id = 1`,
    `truncate disbursement`,
    `update donation_month set amount = amount + 1 where project_id = 1`,
    `delete from donation_month where project_id = 1`,
    `update payout_plan set planned_on = planned_on + 1 where project_id = 1`,
    `delete from payout_plan where project_id = 1`,
    `update organisation set url = 'https://new.example'`,
    `update organisation set org_ref = null, ein = '00-0000000'`,
    `update organisation set name = name || '!'`,
    `update project set organisation_id = (select max(id) from organisation) where id = 1`,
    `update rendering set text = null where project_id = 1`,
    `update rendering set identifier = identifier || '9' where project_id = 1`,
    `delete from rendering where project_id = 1`,
    `create temporary table kept on commit drop as select * from rendering where project_id = 1;
      delete from rendering where project_id = 1; delete from content_change; insert into rendering select * from kept`,
    `truncate rendering cascade`,
  ])('is marked as changed by %s', async (sql) => {
    expect(await marksOf(sql)).toBeGreaterThan(0)
  })

  it.each([
    `update project set title = 'Another' where id = 1`,
    `update organisation set mission = 'Another', name = name`,
    `update rendering set text = text || ' ', segment = 2`,
    `insert into rendering select * from rendering on conflict (project_id) do update set text = excluded.text`,
  ])('is not marked by %s', async (sql) => {
    expect(await marksOf(sql)).toBe(0)
  })

  /** Marks that a statement leaves; it is undone. */
  async function marksOf(sql: string): Promise<number> {
    const undo = new Error('undo')
    let left = 0
    const changing = store.transaction(async (db) => {
      await db.query('delete from content_change')
      await db.query(sql)
      left = (await db.query(`select from content_change where kind = 'organisations'`)).rowCount
      throw undo
    })
    await expect(changing).rejects.toBe(undo)
    return left
  }
})
