import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { defaultWriterRole } from '../../../src/platform/database/writer-role.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testPublisher } from '../../support/release/publishing.js'
import { afterFile } from '../../support/runner/after-file.js'
import { testDatabase } from '../../support/store/database.js'
import { hostileTexts, hostileWriter, missingFrom, rowOf, rowsOfEveryTable } from '../../support/store/hostile-rows.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** Values for columns of numbers, days and instants, which are no values of these types. */
const noNumbersAndDays: Readonly<Record<string, string>> = {
  NaN: 'NaN',
  Infinity: 'Infinity',
  '-Infinity': '-Infinity',
  'before Christ': '0044-03-15 BC',
  'year 10000': '10000-01-01',
  '10^30': '1e30',
  text: 'javascript:alert(1)',
}

/** Values of which each constraint refuses one. */
const wrongValues = ['-1', '0', '0.5', '', 'x', '2026-02-03', '1950-01-01', 'NaN', '200']

describe('a hostile value, written by the role into', { shuffle: false }, async () => {
  const writer = await hostileWriter()
  const { database, platform, publisher, tables, write } = writer
  const { store } = database
  afterFile(() => platform.end())

  it.each([...tables.keys()])('numbers and days of %s is refused with a clear message', async (table) => {
    for (const { column, isText } of tables.get(table) ?? []) {
      if (isText) continue
      for (const [name, value] of Object.entries(noNumbersAndDays)) {
        const refusal = await write(table, column, value, rowOf[table] ?? 'project_id = 1')
        expect(refusal, `${table}.${column}: ${name}`).toMatch(/\w+ \w+ \w+/)
      }
    }
  })

  it.each(Object.entries(hostileTexts))(
    'every text, which is %s, is refused with a clear message, or concerns this project at most',
    (_, value) => writer.expectHarmless(value),
    60_000,
  )

  it('is refused in words that name column, what is expected and what came', async () => {
    const refusals: readonly (readonly [statement: string, message: string])[] = [
      [`update project set goal = 'NaN' where id = 1`, 'project.goal: expected a number, got NaN'],
      [
        `update project set deadline = 'infinity' where id = 1`,
        'project.deadline: expected a day from 1900-01-01 to 9999-12-31, got infinity',
      ],
      [
        `update project set approved_date = '0044-03-15 BC' where id = 1`,
        'project.approved_date: expected a day from 1900-01-01 to 9999-12-31, got 0044-03-15',
      ],
      [
        `update project set modified_date = now() + interval '3 days' where id = 1`,
        'project.modified_date: expected a day that is not in the future, got',
      ],
      [
        `update project set approved_date = '2300-01-01' where id = 1`,
        'project.approved_date: expected a day until 20',
      ],
      [
        `update project set project_link = 'javascript:alert(1)' where id = 1`,
        'project.project_link: expected an address that begins with http:// or https://, got javascript:alert(1)',
      ],
      [
        `update project set summary = repeat('x', 100001) where id = 1`,
        'project.summary: expected at most 100000 characters, got xxx',
      ],
      [`update project set source = 'upstream' where id = 1`, 'project.source: expected local'],
      [
        `update donation_month set month = '2099-02-01', last_on = '2099-02-20' where project_id = 1`,
        'donation_month.month: expected a day that is not in the future, got 2099-02-01',
      ],
      [
        `update disbursement set disbursed_on = '2099-02-01' where reference = 'D-1'`,
        'disbursement.disbursed_on: expected a day that is not in the future, got 2099-02-01',
      ],
      [
        `update disbursement set currency = 'XYZ' where reference = 'D-1'`,
        'disbursement.currency: expected a currency code of ISO 4217, got XYZ',
      ],
      [
        `update disbursement set currency = 'EUR' where reference = 'D-1'`,
        'disbursement.currency: expected USD, the currency of this store, got EUR',
      ],
    ]
    for (const [statement, message] of refusals) await expect(platform.query(statement)).rejects.toThrow(message)
    // It may be tomorrow already where it happened.
    await platform.query(`update project set modified_date = now() + interval '1 day' where id = 1`)
  })

  it('is refused in words wherever a constraint refuses it', async () => {
    const { rows: constraints } = await store.db.query<{ table: string; name: string; columns: string[] }>(
      `select c.conrelid::regclass::text as "table", c.conname as name,
          array(select attname from pg_attribute where attrelid = c.conrelid and attnum = any (c.conkey))::text[] as columns
        from pg_constraint c
        where c.contype = 'c' and c.connamespace = current_schema()::regnamespace
          and has_any_column_privilege($1, c.conrelid, 'update')`,
      [defaultWriterRole],
    )
    const ofService = ['project_operator_state_check', 'project_original_goal_check']
    expect(constraints.length).toBeGreaterThan(40)
    for (const { table, name, columns: constrained } of constraints) {
      if (ofService.includes(name)) continue
      const row = rowOf[table] ?? 'project_id = 1'
      const messages: string[] = []
      for (const column of constrained) {
        for (const value of wrongValues) {
          await platform.query('begin')
          const message = await platform.query(`update ${table} set ${column} = $1 where ${row}`, [value]).then(
            () => '',
            (error: Error) => error.message,
          )
          await platform.query('rollback')
          expect(message, `${table}.${column} = ${value}`).not.toContain('violates check constraint')
          if (message.startsWith(`${table}.${column}: expected `)) messages.push(message)
        }
      }
      expect(messages, name).not.toEqual([])
    }
  })

  it('is refused with column and value wherever a key refuses it', async () => {
    const { rows: keys } = await store.db.query<{ table: string; name: string; kind: string; columns: string[] }>(
      `select c.conrelid::regclass::text as "table", c.conname as name, c.contype as kind,
          array(select attname from pg_attribute where attrelid = c.conrelid and attnum = any (c.conkey))::text[] as columns
        from pg_constraint c
        where c.contype in ('f', 'p', 'u') and c.connamespace = current_schema()::regnamespace
          and has_any_column_privilege($1, c.conrelid, 'insert')`,
      [defaultWriterRole],
    )
    expect(keys.length).toBeGreaterThan(30)
    const said = new Map<string, string>()
    for (const { table, name, kind, columns } of keys) {
      const { rows: written } = await store.db.query<{ column: string; type: string }>(
        `select column_name as "column", data_type as type from information_schema.columns
          where table_schema = current_schema() and table_name = $1
            and has_column_privilege($2, format('%I.%I', table_schema, table_name), column_name, 'insert')`,
        [table, defaultWriterRole],
      )
      const names = written.map(({ column }) => column)
      // A second row as the first one; where it must name another row, one that is not there.
      const values = written.map(({ column, type }) =>
        kind !== 'f' || !columns.includes(column) ? column : type === 'text' ? `'ZZ'` : '987654',
      )
      await platform.query('begin')
      const message = await platform
        .query(`insert into ${table} (${names}) select ${values} from ${table} limit 1`)
        .then(
          () => 'taken',
          (error: pg.DatabaseError) => `${error.message}: ${error.detail}`,
        )
      await platform.query('rollback')
      said.set(name, message)
    }
    const unclear = [...said].filter(
      ([, message]) => !/Key \(.+\)=\(.+\) (?:already exists|is not present in)|: expected /.test(message),
    )
    expect(unclear).toEqual([])
  })

  it('is refused where it would change what is booked or came from elsewhere', async () => {
    await store.db.query(`update donation_month set itemised = 20 where project_id = 1`)
    for (const statement of [
      'delete from donation_month where project_id = 1',
      'update donation_month set amount = 19 where project_id = 1',
      `update donation_month set month = '2026-01-01', last_on = '2026-01-20' where project_id = 1`,
    ]) {
      await expect(platform.query(statement)).rejects.toThrow(
        'donation_month: expected a row without donations that were made here, got one with 20.000 booked',
      )
    }
    await platform.query('update donation_month set amount = 26 where project_id = 1')
    await store.db.query(`update disbursement set source = 'import' where reference = 'D-1'`)
    for (const statement of [
      `delete from disbursement where reference = 'D-1'`,
      `update disbursement set amount = 1 where reference = 'D-1'`,
    ]) {
      await expect(platform.query(statement)).rejects.toThrow(
        'disbursement: expected a row of source local, got one of source import, which this role cannot change',
      )
    }
    await store.db.query(`update disbursement set source = 'local' where reference = 'D-1'`)
  })

  it('that the service itself has stored holds its project and no other', async () => {
    await store.db.query(`update project set approved_date = '0044-03-15 BC', deadline = null where id = 1`)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 1 })
    const published = await publisher.read('/iati/activities.xml')
    for (const title of ['Wells 1', 'Wells 2']) expect(published.includes(title), title).toBe(true)
    expect(await writer.missing()).toEqual([])
    const folder = await temporaryFolder()
    const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    const { stdout } = await runCommandLine(['held'], environment)
    expect(stdout).toContain('1  US-EIN-123456789-1: its last valid text stays published')
    expect(stdout).toContain('render-failed  A value of the project cannot be written as IATI.')
    expect(stdout).toMatch(
      /\/iati-activity\/activity-date: approvedDate: expected a time from 1000-01-01 to 9999-12-31, got /,
    )
    await store.db.query(`update project set approved_date = '2026-01-05' where id = 1`)
    expect(await publisher.publish()).toMatchObject({ held: 0 })
  })
})

/** Values that a store may have got before there were rules, or from a damaged backup; each in one row of project 1. */
const hostileRows: Readonly<Record<string, string>> = {
  'a goal that is no number': `update project set goal = 'NaN' where id = 1`,
  'a total that is no number': `update project set funding = 'NaN', remaining = 'NaN' where id = 1`,
  'a day before Christ': `update project set approved_date = '0044-03-15 BC' where id = 1`,
  'a change at the end of time': `update project set modified_date = 'infinity' where id = 1`,
  'a deadline without end': `update project set deadline = 'infinity' where id = 1`,
  'a place that is no number': `update project set latitude = 'NaN' where id = 1`,
  'a title that XML cannot have': `update project set title = E'Wells\\u0001\\uFFFE' where id = 1`,
  'a gift that is no number': `update donation_month set amount = 'NaN' where project_id = 1`,
  'a month of the year 20000': `update donation_month set month = '20000-02-01', last_on = '20000-02-20' where project_id = 1`,
  'a fee that is no number': `insert into donation_month (project_id, month, currency, kind, amount, count, last_on)
    values (1, '2025-02-01', 'USD', 'fee', 'NaN', 1, '2025-02-20')`,
  'a payout that is no number': `update disbursement set amount = 'NaN' where project_id = 1`,
  'a payout without a day': `update disbursement set disbursed_on = '-infinity' where project_id = 1`,
  'a plan that is no number': `update payout_plan set amount = 'NaN' where project_id = 1`,
  'a plan without a day': `update payout_plan set planned_on = 'infinity' where project_id = 1`,
  'a report at the end of time': `update progress_report set published_at = 'infinity', updated_at = 'infinity' where id = 1`,
  'a report before Christ': `update progress_report set published_at = '0044-03-15 BC', updated_at = '0044-03-15 BC' where id = 1`,
  'a report with letters that XML cannot have': `update progress_report set title = E'\\u0001', content_html = E'\\uFFFF' where id = 1`,
  'an organization with such letters': `update organisation set name = E'Tara\\u0002', ein = E'\\u0001' where id = 7`,
  'an organization whose address is a script': `update organisation set url = 'javascript:x', logo_url = 'javascript:x' where id = 7`,
  'a share that is no number': `update project_country set share = 'NaN' where project_id = 1`,
  'an option that is no number': `update donation_option set amount = 'NaN' where project_id = 1`,
}

describe('one row with values that the rules of the database refuse, in a store without these rules:', async () => {
  const { store, url } = await testDatabase()

  for (const statement of rowsOfEveryTable) await store.db.query(statement)
  const { rows: rules } = await store.db.query<{ table: string; name: string }>(
    `select conrelid::regclass::text as "table", conname as name from pg_constraint
        where contype = 'c' and conrelid <> 0 and connamespace = current_schema()::regnamespace`,
  )
  for (const { table, name } of rules) await store.db.query(`alter table ${table} drop constraint ${name}`)
  const updated = Object.values(hostileRows).flatMap((one) => /^update (\w+)/.exec(one)?.[1] ?? [])
  const copies = new Set(updated)
  for (const table of copies) await store.db.query(`create table copy_of_${table} as select * from ${table}`)
  const publisher = await testPublisher(store)
  const api = await testApi(store, {
    releases: createReleaseReader(publisher.feedsDir),
    feedsDir: publisher.feedsDir,
  })
  expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })

  /** Removes the row that a statement inserted, or gives the updated one its values of before. */
  const undo = async (statement: string) => {
    const table = /^update (\w+)/.exec(statement)?.[1]
    if (!table) return store.db.query(`delete from donation_month where kind = 'fee'`)
    const { rows: columns } = await store.db.query<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
      [table],
    )
    const changed = columns
      .map(({ name }) => name)
      .filter((name) => statement.includes(`${name} =`) && !/^(?:id|project_id)$/.test(name))
    const key = /(\w+ = \d+)$/.exec(statement)?.[1] ?? ''
    return store.db.query(
      `update ${table} set ${changed.map((name) => `${name} = (select ${name} from copy_of_${table} where ${key})`).join(', ')} where ${key}`,
    )
  }

  it('is not there: every door has project 2', async () => {
    expect(await missingFrom({ publisher, api })).toEqual([])
  })

  it.each(Object.entries(hostileRows))('%s', async (_, statement) => {
    await store.db.query(statement)
    try {
      const run = await publisher.publish({ force: true })
      expect(run, JSON.stringify(run.error)).toMatchObject({
        state: expect.stringMatching(/^(?:published|unchanged)$/),
      })
      expect(await missingFrom({ publisher, api })).toEqual([])
      const { rows: others } = await store.db.query(
        `select project_id from rendering where verdict = 'held' and project_id <> 1`,
      )
      expect(others).toEqual([])
      const texts = [await publisher.read('/iati/activities.xml'), await publisher.read('/iati/organisations.xml')]
      expect(texts.filter((text) => /NaN|nfinity|javascript:/.test(text))).toEqual([])
    } finally {
      await undo(statement)
    }
  })

  it.each([...'/&|?'])(
    'an identifier with %s, of a project that was never published, holds it and nothing else',
    async (sign) => {
      const identifier = `US-EIN-123456789-a${sign}b`
      await store.db.query(
        `alter table project disable trigger say_why_not_identifier;
        insert into project (id, organisation_id, active, status, title, goal, approved_date, iati_identifier)
          values (3, 7, true, 'active', 'Wells 3', 100, '2026-01-05', '${identifier}');
        alter table project enable trigger say_why_not_identifier`,
      )
      const run = await publisher.publish()
      expect(run, JSON.stringify(run.error)).toMatchObject({
        state: expect.stringMatching(/^(?:published|unchanged)$/),
        held: 1,
      })
      expect(await missingFrom({ publisher, api })).toEqual([])
      expect(await publisher.read('/iati/activities.xml')).not.toContain('Wells 3')
      const environment = { DATABASE_URL: url, GIVING_DATA_DIR: await temporaryFolder(), LOG_LEVEL: 'silent' }
      const { stdout } = await runCommandLine(['held'], environment)
      expect(stdout).toContain(identifier)
      expect(stdout).toContain('Correct projects.iatiIdentifier, as giving import names these fields')
      await store.db.query('delete from project where id = 3')
    },
  )
})

describe('a deadline that stands for no end, in one row of a file', () => {
  it('is no deadline, with a notice, and nothing is held', async () => {
    const { store, url } = await testDatabase()
    const folder = await temporaryFolder()
    const file = path.join(folder, 'projects.csv')
    const lines = ['id,title,status,goal,approvedDate,deadline', '1,Wells 1,active,100,2026-01-05,9999-12-31']
    await writeFile(file, `${[...lines, '2,Wells 2,active,100,2026-01-05,2027-06-30'].join('\n')}\n`)
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    expect((await runCommandLine(['import', file], environment)).code).toBe(0)
    const publisher = await testPublisher(store)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
    const published = await publisher.read('/iati/activities.xml')
    expect(published.match(/<budget /g)).toHaveLength(3)
    expect(published).not.toContain('9999')
    const { rows: told } = await store.db.query(
      `select project_id from rendering where notice_counts ? 'deadline-unusable'`,
    )
    expect(told).toEqual([{ projectId: 1 }])
  })
})
