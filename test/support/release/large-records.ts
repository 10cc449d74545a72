import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import { newInstallation } from '../commands/cli.js'
import { testDatabase } from '../store/database.js'
import { temporaryFolder } from '../values/temporary-folder.js'

export const largePublisher = 'GB-CHC-1164883'

const times = (count: number, one: (nth: number) => string) =>
  Array.from({ length: count }, (_, nth) => one(nth)).join('')
const value = '<value currency="USD" value-date="2019-01-01">1.00</value>'
const period = '<period-start iso-date="2019-01-01"/><period-end iso-date="2019-12-31"/>'
const narrative = (text: string) => `<narrative>${text}</narrative>`
const reporting = `<reporting-org ref="${largePublisher}" type="22">${narrative('Giving Lakes')}</reporting-org>`
const document = (nth: number, category: string) =>
  `<document-link format="text/html" url="https://lakes.example/${nth}"><title>${narrative('A page')}</title><category code="${category}"/></document-link>`

/** What stands in an activity at each place, in the order of the standard. */
const places = {
  titles: '',
  parties: '',
  countries: '<recipient-country code="KE"/>',
  locations: '',
  sectors: '<sector vocabulary="1" code="14031"/>',
  budgets: '',
  transactions: '',
  documents: '',
}

function activity(changes: Partial<typeof places>): string {
  const all = { ...places, ...changes }
  return `<?xml version="1.0" encoding="UTF-8"?>
<iati-activities version="2.03" generated-datetime="2025-01-01T00:00:00Z">
<iati-activity xml:lang="en" default-currency="USD"><iati-identifier>${largePublisher}-LARGE</iati-identifier>${reporting}
<title>${narrative('Wells')}${all.titles}</title><description type="1">${narrative('Wells')}</description>
<participating-org role="1" type="22" ref="${largePublisher}">${narrative('Giving Lakes')}</participating-org>${all.parties}
<activity-status code="2"/><activity-date type="2" iso-date="2014-01-01"/>
${all.countries}${all.locations}${all.sectors}${all.budgets}${all.transactions}${all.documents}</iati-activity>
</iati-activities>`
}

function organisation(budgets: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<iati-organisations version="2.03" generated-datetime="2025-01-01T00:00:00Z"><iati-organisation xml:lang="en" default-currency="USD">
<organisation-identifier>${largePublisher}</organisation-identifier><name>${narrative('Giving Lakes')}</name>${reporting}
${budgets}</iati-organisation></iati-organisations>`
}

export const largeActivity = (count: number): string =>
  activity({
    transactions: times(
      count,
      () =>
        `<transaction><transaction-type code="3"/><transaction-date iso-date="2019-01-01"/>${value}<receiver-org>${narrative('Village')}</receiver-org></transaction>\n`,
    ),
  })

export const largeOrganisation = (count: number): string =>
  organisation(
    times(
      count,
      (nth) =>
        `<recipient-org-budget><recipient-org ref="GB-CHC-${1_000_000 + nth}">${narrative('Partner')}</recipient-org>${period}${value}</recipient-org-budget>\n`,
    ),
  )

const day = (nth: number) => String((nth % 28) + 1).padStart(2, '0')

type File = readonly [name: string, text: string]
const large = (text: string): File => ['large.xml', text]
const projects: File = [
  'projects.csv',
  'id,title,status,goal,approvedDate,deadline,countries\n1,Wells,active,100,2024-01-05,2027-01-05,KE\n',
]
const gifts = 'project,date,amount,currency,reference,kind\n'

/** Files in which one thing is repeated so many times, by what that is. */
export const repeatedThings: Readonly<Record<string, (count: number) => readonly File[]>> = {
  transactions: (count) => [large(largeActivity(count))],
  budgets: (count) => [
    large(
      activity({
        budgets: times(count, (nth) => {
          const at = `${1900 + Math.floor(nth / 336)}-${String((Math.floor(nth / 28) % 12) + 1).padStart(2, '0')}-${day(nth)}`
          return `<budget><period-start iso-date="${at}"/><period-end iso-date="${at}"/>${value}</budget>\n`
        }),
      }),
    ),
  ],
  locations: (count) => [
    large(
      activity({
        locations: times(
          count,
          (nth) =>
            `<location ref="L${nth}"><name>${narrative(`Place ${nth}`)}</name><point srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><pos>1.5 36.${nth}</pos></point></location>`,
        ),
      }),
    ),
  ],
  // Latitude and longitude exchanged: each is told with the countries.
  'locations that are wrong, and countries': (count) => [
    large(
      activity({
        countries: `<recipient-country code="KE" percentage="100"/>${times(count, () => '<recipient-country code="UG" percentage="0"/>')}`,
        locations: times(
          count,
          () =>
            '<location><point srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><pos>36.8 1.5</pos></point></location>',
        ),
      }),
    ),
  ],
  sectors: (count) => [
    large(
      activity({
        sectors: times(
          count,
          (nth) =>
            `<sector vocabulary="99" vocabulary-uri="https://lakes.example" code="S${nth}" percentage="${nth === 0 ? 100 : 0}">${narrative('Wells')}</sector>`,
        ),
      }),
    ),
  ],
  narratives: (count) => [
    large(activity({ titles: times(count, () => '<narrative xml:lang="fr">Puits</narrative>') })),
  ],
  parties: (count) => [
    large(
      activity({
        parties: times(
          count,
          (nth) =>
            `<participating-org role="4" type="22" ref="GB-CHC-${1_000_000 + nth}">${narrative('Partner')}</participating-org>`,
        ),
      }),
    ),
  ],
  documents: (count) => [large(activity({ documents: times(count, (nth) => document(nth, 'A01')) }))],
  'budgets of recipient organisations': (count) => [large(largeOrganisation(count))],
  'budgets of recipient countries': (count) => [
    large(
      organisation(
        times(
          count,
          () => `<recipient-country-budget><recipient-country code="KE"/>${period}${value}</recipient-country-budget>`,
        ),
      ),
    ),
  ],
  'budgets of recipient regions, each with an error': (count) => [
    large(
      organisation(
        times(
          count,
          () => `<recipient-region-budget><recipient-region code="wrong"/>${period}${value}</recipient-region-budget>`,
        ),
      ),
    ),
  ],
  'gifts of a project in a month': (count) => [
    projects,
    ['gifts.csv', gifts + times(count, (nth) => `1,2026-03-${day(nth)},5.00,USD,G${nth},\n`)],
  ],
  'refunds of a gift': (count) => [
    projects,
    [
      'gifts.csv',
      `${gifts}1,2026-03-01,500000,USD,G,\n${times(count, (nth) => `1,2026-03-${day(nth)},-1.00,USD,R${nth},refund\n`)}`,
    ],
  ],
  payouts: (count) => [
    projects,
    [
      'disbursements.csv',
      `project,date,amount,currency,reference\n${times(count, (nth) => `1,2026-03-${day(nth)},5.00,USD,P${nth}\n`)}`,
    ],
  ],
  'planned payouts': (count) => [
    projects,
    [
      'payout-plans.csv',
      `project,date,amount,currency,reference\n${times(count, (nth) => `1,2027-03-${day(nth)},5.00,USD,P${nth}\n`)}`,
    ],
  ],
  photos: (count) => [
    projects,
    [
      'images.csv',
      `project,position,title,original,consent\n${times(count, (nth) => `1,${nth},A well,https://lakes.example/${nth}.jpg,yes\n`)}`,
    ],
  ],
  reports: (count) => [
    projects,
    [
      'reports.csv',
      `url,project,title,published,html\n${times(count, (nth) => `https://lakes.example/r/${nth},1,Report,2025-06-${day(nth)},<p>Water.</p>\n`)}`,
    ],
  ],
  projects: (count) => [
    [
      'projects.csv',
      `id,title,status,goal,approvedDate,deadline,countries\n${times(count, (nth) => `${nth + 1},Wells,active,100,2024-01-05,2027-01-05,KE\n`)}`,
    ],
  ],
}

/** What a piece of work took: blocks of our sources that ran, bytes that were allocated. */
type Counts = { readonly steps: number; readonly bytes: number }

/** Imports the files and publishes them, each by its command in a process of its own. Returns what both took. */
async function countWork(files: readonly File[]): Promise<Counts> {
  const { url, drop } = await testDatabase()
  const folder = await temporaryFolder()
  const counts = path.join(folder, 'counts')
  await mkdir(counts)
  const installation = await newInstallation({
    ...{
      DATABASE_URL: url,
      REPORTING_ORG_REF: largePublisher,
      DEFAULT_CURRENCY: 'USD',
      BASE_URL: 'https://giving.example',
    },
    NODE_OPTIONS: `--import ${path.resolve(import.meta.dirname, '../processes/count-work.mjs')}`,
    // A machine may have much else to do; what renews a lease is no step of the work.
    ...{ WORK_COUNTS: counts, QUEUE_LOCK_SECONDS: '300' },
  })
  try {
    for (const [name, text] of files) {
      const file = path.join(folder, name)
      await writeFile(file, text)
      const ended = await installation.run(['import', ...(name.endsWith('.xml') ? ['--kind', 'iati'] : []), file])
      expect(ended, name).toMatchObject({ code: 0 })
    }
    const { code } = await installation.run(['publish', '--inline'])
    expect([0, 1]).toContain(code)
    const all = await Promise.all(
      (await readdir(counts)).map(
        async (name) => JSON.parse(await readFile(path.join(counts, name), 'utf8')) as Counts,
      ),
    )
    return {
      steps: all.reduce((sum, { steps }) => sum + steps, 0),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  } finally {
    await installation.remove()
    await drop()
  }
}

/** How many times as much the second doubling of a number costs as the first one: 2 where work is linear, 4 where it is a square. */
const mostOfDoubling = 2.3

/**
 * Counts the work with `first` of a thing, twice and four times as many. Expects what each doubling adds to be at most `mostOfDoubling` times
 * what the one before added; a hundredth of all that the first took is no growth.
 */
export async function expectLinear(thing: string, first: number): Promise<void> {
  const make = repeatedThings[thing]
  if (!make) throw new Error(`nothing repeats ${thing}`)
  const taken: Counts[] = []
  for (const count of [first, 2 * first, 4 * first]) taken.push(await countWork(make(count)))
  const [one, two, four] = taken as [Counts, Counts, Counts]
  console.info(`${thing}, ${first} to ${4 * first}: ${JSON.stringify(taken)}`)
  for (const what of ['steps', 'bytes'] as const) {
    const slack = one[what] * (what === 'steps' ? 0.01 : 0.1)
    expect(four[what] - two[what], `${what} of ${thing}: ${taken.map((each) => each[what]).join(', ')}`).toBeLessThan(
      mostOfDoubling * (two[what] - one[what]) + slack,
    )
  }
}
