import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { addDays, addMonths, type IsoDate } from '../../../src/kernel/dates.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { afterFile } from '../../support/after-file.js'
import { realRecords } from '../../support/borrowed-files.js'
import { runCommandLine } from '../../support/command-line.js'
import { testDatabase } from '../../support/database.js'
import { type Publisher, testPublisher } from '../../support/publishing.js'

/** Records of 2003 that one bulk change of 2022 touched, as a platform has them. */
const invented = `<?xml version="1.0"?><projects numberFound="4">
${[
  '<id>2</id><status>funded</status><funding>3071.00</funding><numberOfDonations>32</numberOfDonations><dateOfMostRecentReport>2007-01-04T14:30:46-05:00</dateOfMostRecentReport>',
  '<id>4</id><status>funded</status><funding>1390.53</funding><numberOfDonations>23</numberOfDonations>',
  '<id>6</id><status>retired</status><funding>0.00</funding><numberOfDonations>0</numberOfDonations>',
  '<id>16</id><status>retired</status><funding>0.00</funding><dateOfMostRecentReport>2003-07-22T00:00:00Z</dateOfMostRecentReport>',
]
  .map(
    (own) => `<project><active>false</active>${own}<title>Wells</title><goal>3046.00</goal>
    <approvedDate>2003-05-16T12:57:20-04:00</approvedDate><modifiedDate>2022-03-29T12:29:24-04:00</modifiedDate></project>`,
  )
  .join('\n')}
</projects>`

/** What a record says, by field. */
type Said = Readonly<Record<string, string>>

async function publishedFrom(file: string): Promise<Publisher> {
  const { url, store } = await testDatabase()
  const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent' }
  const imported = await runCommandLine(['import', file], environment)
  expect(imported.stdout + imported.stderr).toContain('0 refused')
  const publisher = await testPublisher(store)
  await publisher.publish()
  return publisher
}

async function activitiesOf(publisher: Publisher): Promise<Map<string, Element>> {
  const { children } = parseElement(await publisher.read('/iati/activities.xml'), recordLimits)
  return new Map(children.map((one) => [childrenOf(one, 'other-identifier')[0]?.attributes.ref ?? '', one]))
}

function childrenOf(of: Element, ...names: readonly string[]): Element[] {
  return names.reduce((found, name) => found.flatMap(({ children }) => children.filter((one) => one.name === name)), [
    of,
  ] as Element[])
}

const isoDate = ({ attributes }: Element) => attributes['iso-date'] ?? ''

/** Every day of the activity with the place that it stands at. */
function daysOf(activity: Element): string[] {
  return [
    ...childrenOf(activity, 'activity-date').map((one) => `date ${one.attributes.type} ${isoDate(one)}`),
    ...childrenOf(activity, 'budget').map(
      (one) =>
        `budget ${childrenOf(one, 'period-start').map(isoDate)} ${childrenOf(one, 'period-end').map(isoDate)} ${childrenOf(one, 'value').map(({ text }) => text)}`,
    ),
    ...childrenOf(activity, 'transaction', 'transaction-date').map((one) => `transaction ${isoDate(one)}`),
  ]
}

/** The rules of iati.md 4.2, 8.3 and 9.3 for records of projects that are over and have neither gifts nor payouts. */
function expectedOf(record: Said): string[] {
  const utcDay = (text: string) => new Date(text).toISOString().slice(0, 10) as IsoDate
  const { approvedDate = '', modifiedDate = '', dateOfMostRecentReport: report, goal, funding, status } = record
  const start = utcDay(approvedDate)
  const firstYear = addDays(addMonths(start, 12), -1)
  const newest = [modifiedDate, report ?? modifiedDate].map(utcDay).sort().at(-1) ?? firstYear
  const hasRun = Number(funding) > 0 || report !== undefined
  return [
    `date 1 ${start}`,
    ...(Number(goal) > 0 && (status !== 'retired' || hasRun)
      ? [`budget ${start} ${newest < firstYear ? newest : firstYear} ${goal}`]
      : []),
    ...(Number(funding) > 0 ? [`transaction ${utcDay(modifiedDate)}`] : []),
  ]
}

async function recordsOf(file: string): Promise<Said[]> {
  const page = parseElement(await readFile(file), recordLimits)
  return childrenOf(page, 'project').map(({ children }) =>
    Object.fromEntries(children.map(({ name, text }) => [name, text ?? ''])),
  )
}

describe.each([
  ['invented', undefined],
  ['real', realRecords('the published facts of real records')],
] as const)('%s records of projects that are over', (kind, page) => {
  let records: Said[]
  let published: Map<string, Element>

  beforeAll(async () => {
    if (kind === 'real' && page === undefined) return
    let file = page
    if (file === undefined) {
      const folder = await mkdtemp(path.join(tmpdir(), 'giving-facts-'))
      afterFile(() => rm(folder, { recursive: true, force: true }))
      file = path.join(folder, 'projects.xml')
      await writeFile(file, invented)
    }
    records = await recordsOf(file)
    published = await activitiesOf(await publishedFrom(file))
  })

  it.skipIf(kind === 'real' && page === undefined)('are published with no day that follows from no rule', () => {
    expect(published.size).toBe(records.length)
    for (const record of records) {
      const activity = published.get(record.id ?? '')
      expect(activity && daysOf(activity), `project ${record.id}`).toEqual(expectedOf(record))
    }
  })
})
