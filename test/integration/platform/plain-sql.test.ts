import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { describeStore } from '../../support/store/schema/describe-store.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const activities = '/iati/activities.xml'
const login = 'test_platform'

const database = await testDatabase()
const { db } = database.store
const dataDir = await temporaryFolder()
const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir }
const made = await runCommandLine(['migrate', '--writer-role', '--json'], environment)
expect(JSON.parse(made.stdout)).toMatchObject({ applied: [], writerRole: defaultWriterRole })
const again = await runCommandLine(['migrate', '--writer-role'], environment)
expect(again.stdout).toMatch(/^schema .*: nothing to do\ngiving_writer may write .*; grant it to your role\n$/)
await db.query(`do $$ begin create role ${login} login; exception when duplicate_object then null; end $$`)
await db.query(`alter role ${login} password 'test'; grant ${defaultWriterRole} to ${login}`)
const publisher = await testPublisher(database.store, { maxLossPercent: 100 })
const url = new URL(database.url)
url.username = login
url.password = 'test'
/** A connection of the platform's own role, which has nothing but what giving_writer may do. */
const platform = new pg.Client({ connectionString: url.href })
await platform.connect()
afterAll(() => platform.end())

describe('a platform that writes with plain SQL', { shuffle: false }, () => {
  it('publishes what it inserts', async () => {
    await sql(`insert into region (name) values ('Africa')`)
    await sql(
      `insert into country (code, name, region_name) values ('SL', 'Sierra Leone', 'Africa'), ('PE', 'Peru', null)`,
    )
    await sql(`insert into theme (id, name, sector_code) values ('water', 'Clean Water', '14030')`)
    await sql(`insert into organisation (id, name, org_ref, org_type) values
      (7, 'Tara Water Trust', 'GB-CHC-202918', '22'), (8, 'Fund of Lakes', 'XM-DAC-1', '60')`)
    await sql(`insert into organisation_country values (7, 0, 'SL')`)
    await sql(`insert into organisation_theme values (7, 0, 'water')`)
    for (const id of [1, 2]) {
      await sql(
        `insert into project (id, organisation_id, active, status, title, summary, goal, funding, country_code,
          country_name, region_name, approved_date, latitude, longitude)
        values ($1::bigint, 7, true, 'active', 'Wells ' || $1::bigint, 'Four village wells', 8000, 2005, 'SL',
          'Sierra Leone', 'Africa', '2026-01-05T00:00:00Z', 7.96, -11.74)`,
        [id],
      )
      await sql(`insert into project_country (project_id, position, country_code) values ($1, 0, 'SL')`, [id])
      await sql(`insert into project_theme values ($1, 0, 'water')`, [id])
    }
    await sql(`insert into project_sdg values (1, '6.1')`)
    await sql(`insert into photo (project_id, position, wire_id, title, original_url, consent)
      values (1, 1, 5, 'The pump', 'https://platform.example/pump.jpg', true)`)
    await sql(`insert into video values (1, 0, 'https://platform.example/film')`)
    await sql(`insert into donation_option values (1, 0, 25, 'buys tools')`)
    await sql(`insert into donation_month (project_id, month, currency, kind, funder_id, amount, count, last_on)
      values (1, '2026-02-01', 'USD', 'gift', null, 2000, 4, '2026-02-20'), (1, '2026-02-01', 'USD', 'gift', 8, 5, 1, '2026-02-03')`)
    await sql(`insert into disbursement (project_id, reference, disbursed_on, amount, currency)
      values (1, 'D-1', '2026-03-01', 18, 'USD')`)
    await sql(`insert into payout_plan (reference, project_id, planned_on, amount, currency)
      values ('P-1', 1, '2027-03-01', 40, 'USD')`)
    await sql(`insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
      values (1, 1, 'Digging', '2026-06-01T09:30:00Z', '2026-06-01T09:30:00Z',
        '<p>It runs.</p><script>steal()</script>', 'https://platform.example/reports/1')`)
    await sql(`insert into report_image values (1, 0, 'https://platform.example/well.jpg', 'image/jpeg')`)

    expect(await publisher.publish()).toMatchObject({ state: 'published', rendered: 2, held: 0 })
    const file = await publisher.read(activities)
    for (const fact of [
      '<narrative>Wells 1</narrative>',
      'ref="GB-CHC-202918"',
      'ref="XM-DAC-1"',
      'code="SL"',
      'code="14030"',
      'code="6.1"',
      'https://platform.example/pump.jpg',
      '>2000.00<',
      '>5.00<',
      '>18.00<',
      '>40.00<',
    ])
      expect(file.includes(fact), fact).toBe(true)
    const feed = await publisher.read('/feeds/projects/1/reports.atom')
    expect(feed).toContain('It runs.')
    expect(feed).toContain('https://platform.example/well.jpg')
    expect(feed, 'what could run never leaves').not.toContain('steal')
  })

  it.each<readonly [string, string, string]>([
    ['project', `update project set title = 'Deep wells' where id = 1`, '<narrative>Deep wells</narrative>'],
    [
      'project_country',
      `update project_country set country_code = 'PE' where project_id = 1`,
      'recipient-country code="PE"',
    ],
    ['project_sdg', `update project_sdg set code = '6.2' where project_id = 1`, 'code="6.2"'],
    ['photo', `update photo set original_url = 'https://platform.example/new.jpg' where project_id = 1`, 'new.jpg'],
    [
      'donation_month',
      `update donation_month set amount = 2100 where project_id = 1 and funder_id is null`,
      '>2100.00<',
    ],
    ['disbursement', `update disbursement set amount = 19 where reference = 'D-1'`, '>19.00<'],
    ['payout_plan', `update payout_plan set amount = 41 where reference = 'P-1'`, '>41.00<'],
    ['progress_report', `update progress_report set title = 'Pumping' where id = 1`, 'Pumping'],
  ])('renders one project when its %s changes', async (_table, statement, shown) => {
    await sql(statement)
    expect(await publisher.publish()).toMatchObject({ state: 'published', rendered: 1 })
    const place = shown === 'Pumping' ? '/feeds/projects/1/reports.atom' : activities
    expect((await publisher.read(place)).includes(shown), shown).toBe(true)
  })

  it('renders every project of an organisation, a theme or a country that changes', async () => {
    await sql(`update organisation set name = 'Tara Trust' where id = 7`)
    await sql(`update theme set sector_code = '14031' where id = 'water'`)
    await sql(`update country set name = 'Salone' where code = 'SL'`)
    expect(await publisher.publish()).toMatchObject({ state: 'published', rendered: 2 })
    expect(await publisher.read(activities)).toContain('code="14031"')
  })

  it.each<readonly [string, string, string | undefined]>([
    ['report_image', `delete from report_image where report_id = 1`, undefined],
    ['progress_report', `delete from progress_report where id = 1`, undefined],
    ['payout_plan', `delete from payout_plan where reference = 'P-1'`, '>41.00<'],
    ['disbursement', `delete from disbursement where reference = 'D-1'`, '>19.00<'],
    ['donation_month', `delete from donation_month where project_id = 1 and funder_id = 8`, 'XM-DAC-1'],
    ['donation_option', `delete from donation_option where project_id = 1`, undefined],
    ['video', `delete from video where project_id = 1`, undefined],
    ['photo', `delete from photo where project_id = 1`, 'new.jpg'],
    ['project_sdg', `delete from project_sdg where project_id = 1`, 'code="6.2"'],
  ])('renders one project when its %s is deleted', async (_table, statement, gone) => {
    await sql(statement)
    expect(await publisher.publish()).toMatchObject({ rendered: 1, held: 0 })
    if (gone !== undefined) expect((await publisher.read(activities)).includes(gone), gone).toBe(false)
  })

  it('deletes what nothing refers to', async () => {
    await sql(`insert into project (id, active, status, title) values (3, false, 'retired', 'A slip')`)
    await sql(`delete from project where id = 3`)
    await sql(`delete from organisation where id = 8`)
    await sql(`insert into theme (id, name) values ('slip', 'A slip')`)
    await sql(`delete from theme where id = 'slip'`)
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged' })
  })

  it('cannot hide a table from what its writes lead to behind a temporary one', async () => {
    await sql(`create temp table published_identifier (project_id bigint, withdrawn_at timestamptz);
      create temp table search_change (project_id bigint); grant all on published_identifier, search_change to public`)
    await expect(sql('delete from project where id = 1')).rejects.toThrow('project 1 is published')
    await sql(`update project set title = title || '!' where id = 1`)
    expect((await sql('select from pg_temp.search_change')).rowCount).toBe(0)
    await sql('drop table pg_temp.published_identifier, pg_temp.search_change')
  })

  it.each<readonly [string, string]>([
    [`delete from project where id = 1`, 'project 1 is published and its identifier stays for ever'],
    [
      `insert into donation_month (project_id, month, currency, kind, amount, count, last_on)
      values (2, '2026-02-01', 'USD', 'refund', 5, 1, '2026-02-03')`,
      'donation_month.amount: expected an amount from 0, of kind refund one until 0, got "5.000"',
    ],
    [
      `insert into donation_month (project_id, month, currency, kind, amount, count, last_on)
      values (2, '2026-02-02', 'USD', 'gift', 5, 1, '2026-02-03')`,
      'donation_month.month: expected the first day of a month, got "2026-02-02"',
    ],
    [`insert into organisation (id, name) values (9, '')`, 'organisation.name: expected a name, got ""'],
    [
      `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
      values (2, 1, 'x', '2026-06-01', '2026-06-01', '', 'reports/2')`,
      'progress_report.url: expected an address that begins with http:// or https://, got reports/2',
    ],
    [
      `insert into project (id, active, status, title, source_hash) values (4, true, 'active', 'x', 'y')`,
      'permission denied',
    ],
    [`update project set first_seen_on = '2020-01-01' where id = 1`, 'permission denied'],
    [`update project_version set version = 0`, 'permission denied'],
    [`update published_identifier set segment = 2`, 'permission denied'],
    [`select * from donor`, 'permission denied'],
    [`select * from account`, 'permission denied'],
    [`insert into donation (project_id, amount, currency, source) values (1, 1, 'USD', 'local')`, 'permission denied'],
  ])('refuses: %s', async (statement, reason) => {
    await expect(sql(statement)).rejects.toThrow(reason)
  })
})

describe('docs/reference/store.md', () => {
  it('is what the catalogs say', async () => {
    const committed = readFileSync(new URL('../../../docs/reference/store.md', import.meta.url), 'utf8')
    const described = await describeStore(database.store.db, defaultWriterRole)
    expect(described, 'the tables changed: run `npm run schema:dump` and commit').toBe(committed)
  })

  it('needs a comment on every column that may be written', async () => {
    const { store } = await testDatabase()
    await store.db.query('alter table project add column fresh text')
    await grantWriterRole(store.db, defaultWriterRole, new Date())
    await expect(describeStore(store.db, defaultWriterRole)).rejects.toThrow(
      'project.fresh may be written and has no comment',
    )
    await store.db.query(`comment on column project.fresh is 'Fresh.'`)
    await store.db.query(`alter table project add constraint fresh_check check (fresh <> 'stale')`)
    await expect(describeStore(store.db, defaultWriterRole)).rejects.toThrow(
      'fresh_check of project has no comment with a column and words',
    )
  })
})

async function sql(text: string, values: unknown[] = []) {
  return await platform.query(text, values)
}
