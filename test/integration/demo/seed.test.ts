import { beforeAll, describe, expect, it } from 'vitest'
import { neverSeeded, resetDemo, seedDemo } from '../../../src/demo/sql/demo.js'
import { nextFreeId, seed } from '../../../src/demo/sql/seed.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import { firstDemoId } from '../../../src/kernel/demo-publisher.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import type { Store } from '../../../src/platform/database/store.js'
import { testDatabase } from '../../support/store/database.js'

const today = '2026-11-21' as IsoDate
const settings = { today, currency: 'USD' as CurrencyCode, baseUrl: 'https://giving.example' }
const local = { ...settings, projects: 200, source: 'local', firstId: 1 } as const
const { store } = await testDatabase()

async function rows(sql: string, values: unknown[] = []): Promise<object[]> {
  return (await store.db.query<object>(sql, values)).rows
}

/** Hash of everything that seeding writes, but for what the database numbers itself. */
async function digest(of: Store): Promise<object[]> {
  const tables = [
    ['region', '*'],
    ['country', '*'],
    ['theme', '*'],
    ['organisation', '*'],
    ['organisation_theme', '*'],
    ['organisation_country', '*'],
    ['project', '*'],
    ['project_country', '*'],
    ['project_theme', '*'],
    ['photo', '*'],
    ['video', '*'],
    ['donation_option', '*'],
    ['donation_month', '*'],
    ['project_sdg', '*'],
    ['payout_plan', '*'],
    ['disbursement', 'project_id, reference, disbursed_on, amount, currency, receiver_id, source'],
    ['donation', 'project_id, funder_id, amount, currency, settled_at, source'],
    ['progress_report', '*'],
    ['report_image', '*'],
  ]
  const digests: object[] = []
  for (const [table, columns] of tables) {
    const { rows } = await of.db.query<object>(
      `select '${table}' as table, count(*) > 0 as filled, md5(string_agg(r::text, '|' order by r::text collate "C")) as md5
       from (select ${columns} from ${table}) r`,
    )
    digests.push(...rows)
  }
  return digests
}

describe('seeding', { shuffle: false }, () => {
  beforeAll(async () => await seed(store, local))

  it('makes projects of every kind', async () => {
    const counts = await rows(`
      select count(*)::integer as projects,
        count(*) filter (where status = 'active' and active)::integer > 75 as active,
        count(*) filter (where status = 'funded' and not active)::integer > 20 as funded,
        count(*) filter (where status = 'retired' and not active)::integer > 15 as retired,
        bool_or(paused) as paused, bool_or(type = 'fund') as fund, bool_or(organisation_id is null) as no_organisation,
        bool_or(approved_date is null and modified_date is null) as no_dates, bool_or(latitude is null) as no_location,
        bool_or(goal is null) as no_goal, bool_or(original_goal <> goal) as changed_goal,
        bool_or(glide_number is not null) as emergency, bool_or(location_name is not null) as named_place, bool_or(location_precision = 'country') as country_only,
        bool_or(deadline > '${today}') as deadline_ahead, bool_or(summary is null) as no_summary,
        bool_or(title ~ '[\\u0600-\\u06ff]') as arabic, bool_or(title ~ '[\\u0590-\\u05ff]') as hebrew,
        bool_or(summary like '%<b>%&amp;%]]>%') as markup, bool_or(need ~ '\\t' and need ~ '\\r' and need like '%\\\\%') as blanks,
        count(distinct title)::integer as titles, count(distinct country_code)::integer > 12 as countries,
        count(distinct theme_name)::integer as themes
      from project`)
    const { projects, titles, themes, ...kinds } = counts[0] as Record<string, unknown>
    expect({ projects, titles, themes }).toEqual({ projects: 200, titles: 200, themes: 28 })
    expect(Object.entries(kinds).filter(([, found]) => found !== true)).toEqual([])
  })

  it('has totals that agree with the money and the reports', async () => {
    const disagreeing = await rows(`
      select p.id from project p
      left join (select project_id, sum(amount) filter (where kind <> 'fee') as funding,
          sum(count) filter (where kind in ('gift', 'opening')) as donations from donation_month group by 1) m
        on m.project_id = p.id
      left join (select project_id, count(*) as reports, max(published_at) as latest from progress_report group by 1) r
        on r.project_id = p.id
      where p.funding is distinct from m.funding or p.number_of_donations is distinct from m.donations
        or p.remaining is distinct from greatest(p.goal - p.funding, 0)
        or p.number_of_reports is distinct from coalesce(r.reports, 0)
        or p.date_of_most_recent_report is distinct from r.latest or p.funding <= 0`)
    expect(disagreeing).toEqual([])
  })

  it('has every kind of money, and dates nothing after today', async () => {
    expect(
      await rows(`select kind, bool_or(funder_id is not null) as funded, bool_and(case kind when 'refund' then amount < 0
        else amount > 0 end) as signed from donation_month group by kind order by kind`),
    ).toEqual([
      { kind: 'fee', funded: false, signed: true },
      { kind: 'gift', funded: true, signed: true },
      { kind: 'opening', funded: false, signed: true },
      { kind: 'refund', funded: false, signed: true },
    ])
    const [latest] = await rows(
      `select greatest(
      (select max(last_on) from donation_month), (select max(disbursed_on) from disbursement),
      (select max(updated_at)::date from progress_report), (select max(modified_date)::date from project),
      (select max(taken_on) from photo), (select max(first_seen_on) from project)) <= $1::date as past`,
      [today],
    )
    expect(latest).toEqual({ past: true })
    expect(
      await rows(`select min(months) between 8 and 20 as least, max(months) between 45 and 62 as most
      from (select count(*) as months from donation_month where kind = 'gift' and funder_id is null group by project_id) m`),
    ).toEqual([{ least: true, most: true }])
    expect(
      await rows(`select project_id from donation_month m group by project_id
      having sum(case kind when 'fee' then -amount else amount end)
        < (select coalesce(sum(amount), 0) from disbursement d where d.project_id = m.project_id)`),
    ).toEqual([])
    expect(
      await rows(`select count(*) > 250 as many, count(distinct reference) = count(*) as own, bool_or(amount < 0) as returned
      from disbursement`),
    ).toEqual([{ many: true, own: true, returned: true }])
  })

  it('splits projects over countries with shares of exactly 100 or none', async () => {
    expect(
      await rows(`select count(*)::integer as countries, sum(share)::text as share, count(*) > 0 as some
      from project_country group by project_id`).then((found) => new Set(found.map((row) => JSON.stringify(row)))),
    ).toEqual(
      new Set(
        [
          [1, undefined],
          [2, undefined],
          [2, '100.0000'],
          [3, undefined],
          [3, '100.0000'],
          [4, undefined],
          [4, '100.0000'],
        ].map(([countries, share]) => JSON.stringify({ countries, share, some: true })),
      ),
    )
    expect(
      await rows(`select project_id from project_country c join project p on p.id = project_id and position = 0
      where c.country_code <> p.country_code`),
    ).toEqual([])
  })

  it('gives reports addresses of their own below the project page', async () => {
    expect(
      await rows(`select count(*) > 500 as many, count(distinct url) = count(*) as own,
        bool_and(starts_with(url, p.progress_report_link || '?subid=' || r.id)) as below
      from progress_report r join project p on p.id = r.project_id`),
    ).toEqual([{ many: true, own: true, below: true }])
  })

  it('refuses ids that are taken', async () => {
    await expect(seed(store, { ...local, projects: 10, firstId: 191 })).rejects.toMatchObject({
      code: 'input-unusable',
    })
  })

  it('finds where more can be seeded', async () => {
    const firstId = await nextFreeId(store.db)
    expect(firstId).toBe(201)
    await seed(store, { ...local, projects: 10, firstId })
    expect(await rows(`select count(*)::integer as projects from project where id between 201 and 210`)).toEqual([
      { projects: 10 },
    ])
  })

  it('makes the same rows again in another database', async () => {
    const [{ store: one }, { store: other }] = [await testDatabase(), await testDatabase()]
    for (const store of [one, other]) await seed(store, { ...local, projects: 40 })
    const made = await digest(one)
    expect(await digest(other)).toEqual(made)
    expect(made.filter((row) => 'filled' in row && !row.filled)).toMatchObject([{ table: 'donation' }])
  })

  it('takes part in as few countries as are asked for, each once in a project', async () => {
    for (const [index, countries] of [2, 5].entries()) {
      const few = (await testDatabase()).store
      await seed(few, { ...local, projects: 30, firstId: 1 + index, countries })
      const { rows } = await few.db.query<object>(
        'select count(distinct country_code)::integer as countries from project_country',
      )
      expect(rows).toEqual([{ countries }])
    }
  })

  it('respects a currency without decimals', async () => {
    await seed(store, { ...local, projects: 30, firstId: 5001, currency: 'JPY' as CurrencyCode })
    expect(
      await rows(
        `select count(*)::integer as uneven from donation_month where currency = 'JPY' and amount <> trunc(amount)`,
      ),
    ).toEqual([{ uneven: 0 }])
  })
})

describe('the demo', { shuffle: false }, async () => {
  const { store: demo } = await testDatabase()

  it('is 120 projects in 12 countries with ids from 9,000,001, seeded once though two processes try', async () => {
    expect(await neverSeeded(demo.db)).toBe(true)
    const both = await Promise.all([seedDemo(demo, settings), seedDemo(demo, settings)])
    expect(both.map(({ projects }) => projects).sort()).toEqual([0, 120])
    expect(await neverSeeded(demo.db)).toBe(false)
    const { rows } = await demo.db.query<object>(
      `select count(*)::integer as projects, min(id) as first, bool_and(source = 'demo') as demo,
        (select count(distinct country_code)::integer from project_country) as countries,
        (select min(id) from organisation) as first_organisation, (select min(id) >= $1 from progress_report) as reports
       from project`,
      [firstDemoId],
    )
    expect(rows).toEqual([
      { projects: 120, first: firstDemoId, demo: true, countries: 12, firstOrganisation: firstDemoId, reports: true },
    ])
  })

  it('has single gifts that add up to the last two months', async () => {
    const { rows } = await demo.db.query<object>(
      `select count(*) > 0 as some, bool_and(d.amount = m.amount and d.gifts = m.count and d.last_on = m.last_on) as equal
       from donation_month m left join (
         select project_id, funder_id, date_trunc('month', settled_at)::date as month, sum(amount) as amount, count(*) as gifts,
           max(settled_at)::date as last_on
         from donation group by 1, 2, 3
       ) d on d.project_id = m.project_id and d.month = m.month and d.funder_id is not distinct from m.funder_id
       where m.kind = 'gift' and m.month >= '2026-10-01'`,
    )
    expect(rows).toEqual([{ some: true, equal: true }])
  })

  it('goes away wholly, and does not come back', async () => {
    await demo.db.query(`insert into published_identifier (identifier, project_id, segment, first_release_id, first_published_at)
      values ('XM-1-9000001', 9000001, 1, 'r1', now()), ('XM-1-5', 5, 1, 'r1', now())`)
    await demo.db.query(
      `insert into project (id, active, status, title, source) values (5, true, 'active', 'Ours', 'local')`,
    )
    expect(await resetDemo(demo)).toEqual({ projects: 120, organisations: 40 })
    const { rows } = await demo.db.query<object>(
      `select (select array_agg(id) from project) as projects, (select array_agg(identifier) from published_identifier) as published,
        (select count(*) from organisation) + (select count(*) from donation_month) + (select count(*) from donation)
          + (select count(*) from disbursement) + (select count(*) from progress_report) + (select count(*) from photo) as rest,
        (select count(*) from project_version where project_id <> 5) as versions`,
    )
    expect(rows).toEqual([{ projects: ['5'], published: ['XM-1-5'], rest: 0, versions: 0 }])
    expect(await neverSeeded(demo.db)).toBe(false)
    expect(await seedDemo(demo, settings)).toEqual({ projects: 0 })
  })
})
