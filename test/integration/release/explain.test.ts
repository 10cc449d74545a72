import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { clausesOfElements } from '../../../src/iati/mapping/clauses.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { openConsole } from '../../support/api/console.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { readProjectFile, readTable } from '../../support/documents/markdown-table.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { randomFrom } from '../../support/values/random.js'

type Explained = {
  identifier: string
  elements: {
    element: string
    values: string[]
    clauses: string[]
    fields: string[]
    origins: { record?: string; import?: number; file?: string; line?: number; month?: string; files?: string[] }[]
    assumed: { name: string }[]
  }[]
}

async function ourStore(): Promise<CommandStore> {
  const ours = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883' })
  onTestFinished(ours.remove)
  return ours
}

async function explained(ours: CommandStore, args: string): Promise<Explained> {
  const { code, answer } = await ours.json(`explain ${args}`)
  expect(code).toBe(0)
  return answer as unknown as Explained
}

const page = realRecords('why activities of real records say what they say')

it.skipIf(page === undefined)(
  'answers for every element of activities, and leads to the line of the record',
  async () => {
    const ours = await ourStore()
    expect(await ours.run(`import ${page}`)).toMatchObject({ code: 0 })
    expect(await ours.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
    const { rows } = await ours.store.db.query<{ id: number }>('select id from project order by id')
    const random = randomFrom(7)
    const chosen = rows
      .map(({ id }) => ({ id, at: random() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, 20)
    const lines = (await readFile(page ?? '', 'utf8')).split('\n')
    const published = parseElement(await ours.read('/iati/activities.xml'), recordLimits)
    for (const { id } of chosen) {
      const { identifier, elements } = await explained(ours, String(id))
      const activity = published.children.find(({ children }) => children.some(({ text }) => text === identifier))
      const { 'last-updated-datetime': _, ...attributes } = activity?.attributes ?? {}
      const names = [
        ...Object.keys(attributes).map((name) => `@${name}`),
        ...new Set(activity?.children.map(({ name }) => name)),
      ]
      expect(elements.map(({ element }) => element)).toEqual(names)
      for (const { element, values, clauses, fields, origins, assumed } of elements) {
        expect([values.length > 0, clauses.length > 0], element).toEqual([true, true])
        // What no record states is the publisher's, the same for all, or assumed.
        const isOfAll = /^(@xml:lang|@default-currency|@hierarchy|reporting-org)$/.test(element)
        expect(origins.length + assumed.length > 0 || isOfAll, `${element} ${fields}`).toBe(true)
        if (!fields.some((field) => field.startsWith('projects.'))) continue
        const origin = origins.find(({ record }) => record === `projects ${id}`)
        expect(
          [origin?.file, lines.slice((origin?.line ?? 0) - 1, (origin?.line ?? 0) + 120).join('\n')],
          element,
        ).toEqual([page, expect.stringMatching(new RegExp(`^\\s*<project>[^]*?<id>${id}</id>`))])
      }
    }
  },
)

it('names the newest line of each record, the months of money, and nothing of an import that was taken back', async () => {
  const ours = await ourStore()
  const write = async (name: string, text: string) => {
    await writeFile(path.join(ours.folder, name), text)
    return path.join(ours.folder, name)
  }
  const projects = await write(
    'projects.csv',
    'externalId,title,status,approvedDate,organization,themes\nA,Desks,active,2026-01-01,P,Education\nB,Wells,active,2026-01-05,P,Clean Water\n',
  )
  const organisations = await write('organizations.csv', 'externalId,name,country\nP,Lakes,DE\n')
  const gifts = await write('gifts.csv', 'project,date,amount,currency,reference\nB,2026-03-05,25.00,USD,G-1\n')
  expect(await ours.run(`import ${organisations} ${projects} ${gifts}`)).toMatchObject({ code: 0 })
  const title = async () => (await explained(ours, 'B title')).elements[0]
  expect(await title()).toMatchObject({
    ...{ values: ['title/narrative Wells'], clauses: ['iati.md 1.2'], fields: ['projects.title'], assumed: [] },
    origins: [{ record: 'projects B', import: 1, file: projects, line: 3 }],
  })
  const partner = (await explained(ours, 'B participating-org')).elements[0]
  expect(partner?.origins).toContainEqual(
    expect.objectContaining({ record: 'organizations P', file: organisations, line: 2 }),
  )
  const money = (await explained(ours, 'B transaction')).elements[0]
  expect(money?.origins).toContainEqual(
    expect.objectContaining({ month: '2026-03', kind: 'gift', files: expect.arrayContaining([gifts]) }),
  )
  expect((await explained(ours, 'B default-flow-type')).elements[0]?.assumed).toMatchObject([{ name: 'flow-type' }])

  const corrected = await write(
    'corrected.csv',
    'externalId,title,status,approvedDate,organization,themes\nB,Deep wells,active,2026-01-05,P,Clean Water\n',
  )
  expect(await ours.run(`import ${corrected} --kind projects`)).toMatchObject({ code: 0 })
  expect((await title())?.origins.map(({ file, line }) => [file, line])).toEqual([[corrected, 2]])
  const linesOf = async (element: string) =>
    (await explained(ours, `B ${element}`)).elements[0]?.origins.map(({ file, line }) => [file, line])
  // What the correction did not change comes from the line before; themes are a list of their own.
  expect(await linesOf('activity-date')).toEqual([[projects, 3]])
  expect(await linesOf('sector')).toEqual([[projects, 3]])
  const third = await write(
    'third.csv',
    'externalId,title,status,approvedDate,organization,themes,title@fr\nB,Deep wells,active,2026-01-05,P,Education,Puits\n',
  )
  expect(await ours.run(`import ${third} --kind projects`)).toMatchObject({ code: 0 })
  expect(await linesOf('sector')).toEqual([[third, 2]])
  expect(await linesOf('title')).toEqual([
    [third, 2],
    [corrected, 2],
  ])
  expect((await ours.run('explain B title')).stdout).toContain('third.csv, line 2, import 3 of')
  expect((await ours.run('explain B sector')).stdout).toMatch(/third\.csv, line 2, .* \(projects\.themes\)$/m)
  expect(await ours.run('imports undo 3')).toMatchObject({ code: 0 })
  expect(await ours.run('imports undo 2')).toMatchObject({ code: 0 })
  expect((await title())?.origins.map(({ file, line }) => [file, line])).toEqual([[projects, 3]])
  expect((await ours.run('explain B title')).stdout).toMatch(
    /^title {2}\(iati\.md 1\.2\)\n {2}title\/narrative Wells\n {4}from projects\.title\n {4}projects B: .*projects\.csv, line 3, import 1 of 20/m,
  )
  const one = await openConsole(ours.environment)
  onTestFinished(one.close)
  const { rows } = await ours.store.db.query<{ id: number }>(`select id from project where external_id = 'B'`)
  const page = await one.ask(`/explain/${rows[0]?.id}`)
  expect([page.status, page.text]).toEqual([
    200,
    expect.stringContaining(`projects B: ${projects}, line 3, import 1 of`),
  ])
  expect((await one.ask('/explain/12345')).status).toBe(404)
  expect(await ours.run('explain B titel')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected one of @xml:lang'),
  })
  await ours.store.db.query(
    `insert into project (id, source, title, status, active) values (900, 'local', 'By SQL', 'active', true)`,
  )
  expect((await explained(ours, '900 title')).elements[0]?.origins).toEqual([
    { record: 'projects 900', source: 'SQL or a command of an operator', writer: 'local' },
  ])
})

it('of what was published elsewhere, leads to the line of that file', async () => {
  const ours = await ourStore()
  const file = path.join(ours.folder, 'activities.xml')
  await writeFile(
    file,
    `<iati-activities version="2.03">
<iati-activity><iati-identifier>GB-CHC-1164883-W1</iati-identifier>
<reporting-org ref="GB-CHC-1164883" type="21"><narrative>Wells</narrative></reporting-org>
<title><narrative>Wells</narrative></title><description><narrative>Four</narrative></description>
<participating-org role="4" type="22"><narrative>Lakes</narrative></participating-org>
<activity-status code="2"/><activity-date type="1" iso-date="2024-01-01"/>
<recipient-country code="SL"/><sector vocabulary="1" code="14031"/></iati-activity></iati-activities>`,
  )
  expect(await ours.run(`import ${file} --kind iati`)).toMatchObject({ code: 0 })
  const { rows } = await ours.store.db.query<{ id: number }>('select id from project')
  const [status] = (await explained(ours, `${rows[0]?.id} activity-status`)).elements
  expect(status?.origins).toContainEqual(expect.objectContaining({ file, line: 2 }))
})

it('names for every element the clauses of the contract', () => {
  const said = new Map<string, Set<string>>()
  for (const [element = '', facts = '', , clauses = ''] of readTable(
    readProjectFile('docs/contract/iati.md'),
    '| Element | Facts',
  )) {
    const [top = ''] = element.replaceAll('`', '').split('/')
    const names = top === 'iati-activity' ? facts.replaceAll('`', '').split(' ') : [top]
    for (const name of names) said.set(name, new Set([...(said.get(name) ?? []), ...clauses.split(', ')]))
  }
  said.delete('@last-updated-datetime')
  const ours = Object.entries(clausesOfElements).map(([name, clauses]) => [name, [...clauses].sort()])
  expect(ours).toEqual([...said].map(([name, clauses]) => [name, [...clauses].sort()]))
})
