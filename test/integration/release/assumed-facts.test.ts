import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { html } from '../../../src/http/pages/html.js'
import { demoReportingOrgRef, firstDemoId } from '../../../src/kernel/demo-publisher.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { openConsole } from '../../support/api/console.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { day, mappingConfig, usd } from '../../support/values/builders.js'

/** What the store states of a project, of what activities may assume. */
type Row = {
  readonly id: number
  readonly approved: boolean
  readonly orgType: string | undefined
  readonly document: string | undefined
  readonly shares: boolean
  /** A theme or a GLIDE number says that it is humanitarian. */
  readonly humanitarian: boolean
  readonly paidOn: readonly string[]
}

async function rowsOf({ store }: CommandStore): Promise<readonly Row[]> {
  const { rows } = await store.db.query<Row>(
    `select p.id, p.approved_date is not null as approved, o.org_type as "orgType", p.additional_documentation as document,
        p.glide_number is not null or exists (select from project_theme join theme t on t.id = theme_id
          where project_id = p.id and t.humanitarian) as humanitarian,
        exists (select from project_country where project_id = p.id and share is not null) as shares,
        array(select disbursed_on::text from disbursement where project_id = p.id) as "paidOn"
      from project p left join organisation o on o.id = p.organisation_id order by p.id`,
  )
  return rows
}

function all(of: Element, ...names: readonly string[]): Element[] {
  return names.reduce(
    (found, name) => found.flatMap(({ children }) => children.filter((one) => one.name === name)),
    [of],
  )
}

const attributesOf = (found: readonly Element[], name: string) => found.map(({ attributes }) => attributes[name])

/** The assumptions that one activity shows beside its record; nothing here is of the mapping. */
function assumedIn(activity: Element, row: Row): string[] {
  const { attributes } = activity
  const [dates, partners] = [all(activity, 'activity-date'), all(activity, 'participating-org')]
  const codes = all(activity, 'sector').filter((one) => one.attributes.vocabulary === '1')
  const dated = (type: string) => dates.find((one) => one.attributes.type === type)?.attributes['iso-date']
  const partnerTypes = attributesOf(
    partners.filter((one) => one.attributes.role === '4'),
    'type',
  )
  const has = {
    'publisher-type': attributesOf(all(activity, 'reporting-org'), 'type').includes('21'),
    language: attributes['xml:lang'] === 'en',
    currency: attributes['default-currency'] === 'USD',
    humanitarian:
      attributes.humanitarian === '1' &&
      !row.humanitarian &&
      codes.some((one) => /^7[234]/.test(one.attributes.code ?? '')),
    'budget-not-provided': attributes['budget-not-provided'] === '3',
    donors: partners.some(({ attributes: { role, type } }) => role === '1' && type === '90'),
    'partner-at-home': row.orgType === undefined && partnerTypes.includes('24'),
    'partner-from-abroad': row.orgType === undefined && partnerTypes.includes('22'),
    'planned-start': !row.approved && dated('1') !== undefined,
    'actual-start': dated('2') !== undefined && !row.paidOn.includes(dated('2') ?? ''),
    region: attributesOf(all(activity, 'recipient-region'), 'code').includes('998'),
    'country-shares': !row.shares && attributesOf(all(activity, 'recipient-country'), 'percentage').some(Boolean),
    'location-exactness': attributesOf(all(activity, 'location', 'exactness'), 'code').includes('2'),
    'location-class': attributesOf(all(activity, 'location', 'location-class'), 'code').includes('2'),
    sector: codes.some((one) => one.attributes.code === '99810'),
    'sector-shares': attributesOf(all(activity, 'sector'), 'percentage').some(Boolean),
    'flow-type': attributesOf(all(activity, 'default-flow-type'), 'code').includes('30'),
    'finance-type': attributesOf(all(activity, 'default-finance-type'), 'code').includes('110'),
    'aid-type': attributesOf(all(activity, 'default-aid-type'), 'code').includes('C01'),
    'tied-status': attributesOf(all(activity, 'default-tied-status'), 'code').includes('5'),
    'budget-status': attributesOf(all(activity, 'budget'), 'status').includes('1'),
    'document-category':
      row.document !== undefined &&
      all(activity, 'document-link').some(
        (one) => attributesOf(all(one, 'category'), 'code').includes('A02') && one.attributes.url === row.document,
      ),
  }
  return Object.entries(has).flatMap(([name, is]) => (is ? [name] : []))
}

/** The list that follows from the published file and the rows of the store. */
async function recount(ours: CommandStore) {
  const rows = new Map((await rowsOf(ours)).map((row) => [row.id, row]))
  const { children } = parseElement(await ours.read('/iati/activities.xml'), recordLimits)
  const found = new Map<string, { count: number; examples: string[] }>()
  for (const activity of children) {
    const identifier = all(activity, 'iati-identifier')[0]?.text ?? ''
    const row = rows.get(Number(/-(\d+)$/.exec(identifier)?.[1]))
    if (!row) throw new Error(`no row of ${identifier}`)
    for (const name of assumedIn(activity, row)) {
      const one = found.get(name) ?? { count: 0, examples: [] }
      found.set(name, one)
      one.count += 1
      if (one.examples.length < 3) one.examples.push(identifier)
    }
  }
  return { activities: children.length, counted: Object.fromEntries(found) }
}

type Fact = { name: string; count: number; examples: string[]; reason: string; clause: string; change: string }

async function listed(ours: CommandStore, changes: Record<string, string> = {}) {
  const { code, answer } = await ours.json('facts', changes)
  expect(code).toBe(0)
  const { activities, facts } = answer as { activities: number; facts: Fact[] }
  const counted = Object.fromEntries(facts.map(({ name, count, examples }) => [name, { count, examples }]))
  return { activities, counted, facts }
}

async function expectAgreement(ours: CommandStore): Promise<readonly string[]> {
  expect(await ours.json('publish --inline')).toMatchObject({ code: 0, answer: { state: 'published' } })
  const { facts, ...counts } = await listed(ours)
  expect(counts).toEqual(await recount(ours))
  for (const { reason, clause, change } of facts) {
    expect([reason, clause, change]).toEqual([
      expect.stringMatching(/\.$/),
      expect.stringMatching(/^iati\.md \d/),
      expect.stringMatching(/./),
    ])
  }
  return facts.map(({ name }) => name)
}

it('lists of the demo exactly what its file says and its rows do not', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: demoReportingOrgRef })
  onTestFinished(ours.remove)
  const invented = { source: 'demo', isDemo: true, firstId: firstDemoId, projects: 15 } as const
  await seed(ours.store, { ...invented, today: day('2026-11-20'), currency: usd, baseUrl: mappingConfig.baseUrl })
  const names = await expectAgreement(ours)
  expect(names).toEqual(expect.arrayContaining(['publisher-type', 'actual-start', 'location-class', 'budget-status']))
})

const page = realRecords('what is assumed of real records')

it.skipIf(page === undefined)('lists of real records exactly what the file says and they do not', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: 'US-EIN-123456789' })
  onTestFinished(ours.remove)
  expect(await ours.run(`import ${page}`)).toMatchObject({ code: 0 })
  const names = await expectAgreement(ours)
  expect(names).toEqual(expect.arrayContaining(['language', 'flow-type', 'sector-shares']))
})

it('what an operator states is not listed, and is published', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: 'US-EIN-123456789' })
  onTestFinished(ours.remove)
  const { db } = ours.store
  await db.query(`insert into organisation (id, name, country_code) values (1, 'Lakes', 'DE')`)
  await db.query(`insert into theme (id, name, sector_code) values ('relief', 'Relief', '72010')`)
  await db.query(
    `insert into project (id, source, title, status, active, organisation_id, goal, approved_date, additional_documentation)
      values (7, 'local', 'Wells', 'active', true, 1, 500, '2026-01-05', 'https://x.example/plan.pdf')`,
  )
  await db.query(`insert into project_theme (project_id, position, theme_id) values (7, 0, 'relief')`)
  await expectAgreement(ours)
  expect((await listed(ours)).counted).toMatchObject({
    humanitarian: { count: 1 },
    'partner-from-abroad': { count: 1 },
  })
  const stated = {
    ...{ REPORTING_ORG_TYPE: '60', DEFAULT_LANGUAGE: 'de', DEFAULT_CURRENCY: 'USD', ASSUMED_PARTNER_TYPE: '21' },
    ...{ ASSUMED_DONORS: 'Friends', ASSUMED_DOCUMENT_CATEGORY: 'A07' },
    ASSUMED_CODES: 'flow-type=36, finance-type=421, aid-type=B01, tied-status=none, budget-status=2',
  }
  expect(Object.keys((await listed(ours, stated)).counted)).toEqual(['humanitarian', 'region'])
  expect(await ours.json('publish --inline', { ASSUMED_CODES: stated.ASSUMED_CODES })).toMatchObject({
    answer: { state: 'published' },
  })
  const [activity] = parseElement(await ours.read('/iati/activities.xml'), recordLimits).children
  const codes = activity?.children.flatMap(({ name, attributes: { code } }) =>
    /^default-/.test(name) ? [`${name} ${code}`] : [],
  )
  expect(codes).toEqual(['default-flow-type 36', 'default-finance-type 421', 'default-aid-type B01'])
  expect(activity && attributesOf(all(activity, 'budget'), 'status')).toEqual(['2'])
  const wrong = await ours.run('facts', { ASSUMED_CODES: 'flow-type=31' })
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringMatching(/ASSUMED_CODES: expected names and codes .*got "flow-type=31"/),
  ])
})

it('of an activity that was published elsewhere, only what the store adds is listed', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', REPORTING_ORG_NAME: 'Wells' })
  onTestFinished(ours.remove)
  const file = path.join(ours.folder, 'activities.xml')
  await writeFile(
    file,
    `<iati-activities version="2.03"><iati-activity xml:lang="fr" default-currency="EUR" humanitarian="0">
      <iati-identifier>GB-CHC-1164883-W1</iati-identifier>
      <reporting-org ref="GB-CHC-1164883" type="21"><narrative>Wells</narrative></reporting-org>
      <title><narrative>Puits</narrative></title><description><narrative>Quatre puits</narrative></description>
      <participating-org role="4" type="22"><narrative>Lakes</narrative></participating-org>
      <activity-status code="2"/><activity-date type="1" iso-date="2024-01-01"/>
      <recipient-country code="SL"/><sector vocabulary="1" code="72010"/>
    </iati-activity></iati-activities>`,
  )
  expect(await ours.run(`import ${file} --kind iati`)).toMatchObject({ code: 0 })
  expect((await listed(ours)).counted).toEqual({ 'publisher-type': { count: 1, examples: ['GB-CHC-1164883-W1'] } })
})

/** A project with a theme of emergencies, of which nobody has said whether it is humanitarian. */
async function aReliefProject(changes: Record<string, string> = {}): Promise<CommandStore> {
  const ours = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', FACTS_CONFIRMED: '', ...changes })
  onTestFinished(ours.remove)
  const { db } = ours.store
  await db.query(`insert into theme (id, name, sector_code) values ('relief', 'Relief', '72010')`)
  await db.query(
    `insert into project (id, source, title, status, active, approved_date, number_of_donations)
      values (7, 'local', 'Tents', 'funded', false, '2026-01-05', 1)`,
  )
  await db.query(`insert into project_theme (project_id, position, theme_id) values (7, 0, 'relief')`)
  await db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      values (7, '2026-02-01', 'USD', 'gift', 'local', 50, 1, '2026-02-28')`,
  )
  return ours
}

/** What the editions write differently. */
async function publishedParts(ours: CommandStore) {
  const [activity] = parseElement(await ours.read('/iati/activities.xml'), recordLimits).children
  if (!activity) throw new Error('no activity')
  const actual = all(activity, 'activity-date').find(({ attributes }) => attributes.type === '2')
  return {
    humanitarian: activity.attributes.humanitarian,
    tied: attributesOf(all(activity, 'default-tied-status'), 'code'),
    actual: actual?.children.map(({ text }) => text),
  }
}

const derived = ['Derived: the first month of gifts, not before the planned start. The source states no actual start.']

it('nothing is published as a real publisher before a person has confirmed the list', async () => {
  const ours = await aReliefProject()
  const why = /^nothing is published as GB-CHC-1164883 before a person has confirmed once .*giving facts --confirm$/
  expect(await ours.json('publish --inline')).toMatchObject({
    code: 2,
    answer: { state: 'failed', error: { code: 'facts-unconfirmed', message: expect.stringMatching(why) } },
  })
  expect((await ours.json('status')).answer.needs).toContainEqual(expect.stringMatching(why))
  expect((await ours.run('doctor')).stdout).toMatch(/^FIX .*giving facts, then giving facts --confirm$/m)
  expect(await ours.run('facts')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/not confirmed: giving facts --confirm$/m),
  })
  const { code, answer } = await ours.json('facts --confirm')
  expect([code, answer]).toMatchObject([
    0,
    { edition: 2, newest: 2, confirmed: { by: expect.stringMatching(/^operator /) }, changes: [] },
  ])
  expect((await ours.run('audit')).stdout).toContain('facts-confirmed')
  expect(await ours.json('publish --inline')).toMatchObject({ code: 0, answer: { state: 'published' } })
  expect(await publishedParts(ours)).toEqual({ humanitarian: '1', tied: [], actual: derived })
  expect((await ours.run('facts')).code).toBe(0)
})

it('the console lists what waits for a person, who confirms it once by a form of its own', async () => {
  const ours = await aReliefProject()
  const operators = 'ana:a-long-token-of-ana'
  const one = await openConsole({ ...ours.environment, OPS_TOKEN: operators })
  onTestFinished(one.close)
  const ana = { authorization: `Basic ${Buffer.from(operators).toString('base64')}` }
  const first = (await one.ask('/', ana)).text
  expect(first).toMatch(/<p>nothing is published as GB-CHC-1164883 before a person has confirmed/)
  expect(first).toMatch(/href="\/facts"[^>]*>Read and confirm them</)
  const { facts } = (await ours.json('facts')).answer as { facts: Fact[] }
  const page = (await one.ask('/facts', ana)).text
  for (const { name, count, examples, reason, clause, change } of facts) {
    const [row = ''] = page.split('<tr>').filter((text) => text.includes(`<th scope="row">${name}</th>`))
    for (const part of [...examples, reason, clause, change]) expect(row, name).toContain(html`${part}`.html)
    expect(row).toContain(`<td class="number">${count}</td>`)
  }
  expect(page).toContain('0 activities would change, 1 would be new')
  expect(page).toContain('href="/facts/confirm"')
  expect(await one.ask('/facts/confirm', { ...ana, origin: one.base }, 'token=wrong')).toMatchObject({ status: 400 })
  expect((await ours.json('facts')).answer).not.toHaveProperty('confirmed')
  expect(await one.confirm('/facts/confirm', { comment: 'as agreed' }, ana)).toMatchObject({
    status: 303,
    headers: { location: expect.stringContaining('/facts?done=The+list+is+confirmed') },
  })
  const who = 'operator ana (console)'
  expect((await ours.json('facts')).answer).toMatchObject({ edition: 2, confirmed: { by: who } })
  expect((await ours.json('audit')).answer).toMatchObject({
    events: expect.arrayContaining([
      expect.objectContaining({ actor: who, action: 'facts-confirmed', details: { edition: 2, comment: 'as agreed' } }),
    ]),
  })
  const after = (await one.ask('/facts', ana)).text
  expect(after).toContain(`, by ${who}.`)
  expect(after).not.toContain('href="/facts/confirm"')
  expect((await one.ask('/', ana)).text).not.toContain('before a person has confirmed')
})

it('a script confirms with a variable, which is recorded with the first release', async () => {
  const ours = await aReliefProject()
  const confirmed = { FACTS_CONFIRMED: 'yes' }
  expect(await ours.json('publish --inline', confirmed)).toMatchObject({ answer: { state: 'published' } })
  expect((await ours.json('facts')).answer).toMatchObject({ confirmed: { by: 'FACTS_CONFIRMED' } })
})

it('what nobody has to confirm is published: a trial, by the rules of today', async () => {
  const ours = await aReliefProject({ REPORTING_ORG_REF: 'XE-EXAMPLE-OURS' })
  expect(await ours.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
  expect(await publishedParts(ours)).toMatchObject({ humanitarian: '1', tied: [] })
})

it('a theme that says no is not humanitarian, with a notice', async () => {
  const ours = await aReliefProject({ FACTS_CONFIRMED: 'yes' })
  expect(await ours.run('themes map relief 72010 --no-humanitarian')).toMatchObject({ code: 0 })
  expect(await ours.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
  expect(await publishedParts(ours)).toMatchObject({ humanitarian: '0' })
  expect((await ours.run('projects list --notice humanitarian-contradicted')).stdout).toMatch(/^7\b/m)
})

it('a store that has published keeps its bytes until a person confirms, and sees what changes', async () => {
  const ours = await aReliefProject({ FACTS_CONFIRMED: 'yes' })
  // As a store of an earlier version: it published by the first edition, and the migration finds it so.
  const { db } = ours.store
  await db.query(
    `insert into store_fact (name, value, recorded_at) values ('assumptions', '{"edition":1,"by":"nobody"}', now())`,
  )
  expect(await ours.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
  await db.query(`delete from store_fact where name = 'assumptions'`)
  await db.query(await readFile('src/platform/database/migrations/0087-editions.sql', 'utf8'))
  const before = await ours.read('/iati/activities.xml')
  expect(await publishedParts(ours)).toEqual({ humanitarian: '0', tied: ['5'], actual: [] })
  expect(await ours.json('publish --inline --force')).toMatchObject({ code: 0, answer: { state: 'unchanged' } })
  expect(await ours.read('/iati/activities.xml')).toBe(before)
  const told = { count: 1, examples: [expect.objectContaining({ identifier: 'GB-CHC-1164883-7' })] }
  const changes = ['@humanitarian', 'activity-date', 'default-tied-status', '@budget-not-provided'].map((element) => ({
    element,
    ...told,
  }))
  expect(await ours.json('facts')).toMatchObject({ code: 1, answer: { edition: 1, newest: 2, changes } })
  expect((await ours.run('facts')).stdout).toContain(
    'giving facts --confirm goes over to edition 2 and changes:\n  @humanitarian in 1\n    GB-CHC-1164883-7: 0 -> 1\n',
  )
  expect((await ours.json('status')).answer.warnings).toContainEqual(
    expect.stringMatching(/^what nobody states is published by edition 1 of the assumptions: giving facts shows/),
  )
  expect(await ours.json('facts --confirm')).toMatchObject({ code: 0, answer: { edition: 2, changes: [] } })
  expect(await ours.json('publish --inline')).toMatchObject({ code: 0, answer: { state: 'published' } })
  expect(await publishedParts(ours)).toEqual({ humanitarian: '1', tied: [], actual: derived })
})

it('an export brings the edition along, and one of an earlier version the first', async () => {
  const ours = await aReliefProject()
  expect((await ours.run('facts --confirm')).code).toBe(0)
  const dir = path.join(ours.folder, 'export')
  expect(await ours.run(`export ${dir}`)).toMatchObject({ code: 0 })
  const descriptor = path.join(dir, 'datapackage.json')
  const { giving, ...rest } = JSON.parse(await readFile(descriptor, 'utf8')) as { giving: { assumptions?: unknown } }
  const { assumptions: _, ...earlier } = giving
  for (const [edition, facts] of [
    [2, giving],
    [1, earlier],
  ] as const) {
    await writeFile(descriptor, JSON.stringify({ ...rest, giving: facts }))
    const other = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', FACTS_CONFIRMED: '' })
    onTestFinished(other.remove)
    expect(await other.run(`import ${dir}`)).toMatchObject({ code: 0 })
    expect((await other.json('facts')).answer).toMatchObject({ edition })
  }
})
