import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fromElement } from '../../../src/catalogue/wire/read/parsed-value.js'
import { addDays, addMonths, type IsoDate } from '../../../src/kernel/dates.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { newInstallation, noRates } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { readProjectFile, readTable } from '../../support/documents/markdown-table.js'
import { apiKey, startUpstream, type UpstreamRecord } from '../../support/servers/upstream-server.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const publisher = { ref: 'US-EIN-123456789', name: 'Example Giving', type: '21', page: 'https://giving.example' }
const donors = `Individual donors through ${publisher.name}`

/** Records of 2003 that one bulk change of 2022 touched, as a platform has them. */
const invented = `<?xml version="1.0"?><projects numberFound="5">
${[
  `<id>2</id><status>funded</status><funding>3071.00</funding><numberOfDonations>32</numberOfDonations>
    <dateOfMostRecentReport>2007-01-04T14:30:46-05:00</dateOfMostRecentReport><numberOfReports>5</numberOfReports>
    <progressReportLink>https://platform.example/projects/wells/updates/</progressReportLink>
    <projectLink>https://platform.example/projects/wells für alle/</projectLink>
    <additionalDocumentation>https://platform.example/plan.PDF?of=2003</additionalDocumentation>
    <summary>Four wells&lt;br&gt;in the  Bo district &amp;amp; beyond.</summary><need>No water.</need>
    <longTermImpact>Clean water.</longTermImpact><activities>Drill.</activities>
    <latitude>13.539200782775879</latitude><longitude>-88.857421875</longitude>
    <countries><country><iso3166CountryCode>SL</iso3166CountryCode><name>Sierra Leone</name></country></countries>
    <themes><theme><id>water</id><name>Clean Water</name></theme><theme><id>edu</id><name>Education</name></theme>
      <theme><id>art</id><name>Arts and Culture</name></theme><theme><id>sport</id><name>Sport</name></theme></themes>
    <organization><id>7</id><name>Tara Water Trust</name><ein>38-3288402</ein><iso3166CountryCode>SL</iso3166CountryCode></organization>`,
  `<id>4</id><status>funded</status><funding>1390.53</funding><numberOfDonations>1</numberOfDonations>
    <countries><country><iso3166CountryCode>SL</iso3166CountryCode><name>Sierra Leone</name></country>
      <country><iso3166CountryCode>GN</iso3166CountryCode><name>Guinea</name></country>
      <country><iso3166CountryCode>LR</iso3166CountryCode><name>Liberia</name></country></countries>
    <organization><id>8</id><name>Lakes</name><iso3166CountryCode>DE</iso3166CountryCode></organization>`,
  '<id>6</id><status>retired</status><funding>0.00</funding><numberOfDonations>0</numberOfDonations><latitude>0</latitude><longitude>0</longitude>',
  `<id>16</id><status>retired</status><funding>0.00</funding><dateOfMostRecentReport>2003-07-22T00:00:00Z</dateOfMostRecentReport>
    <progressReportLink>https://platform.example/none/updates/</progressReportLink><numberOfReports>0</numberOfReports>
    <themes><theme><id>disaster</id><name>Disaster Response</name></theme></themes>`,
  '<id>17</id><status>active</status><funding>0.00</funding>',
]
  .map(
    (own) => `<project><active>false</active>${own}<title>Wells</title><goal>3046.00</goal>
    <approvedDate>2003-05-16T12:57:20-04:00</approvedDate><modifiedDate>2022-03-29T12:29:24-04:00</modifiedDate></project>`,
  )
  .join('\n')}
</projects>`

/** `path value` of each text and attribute, in the order of the document. */
function factsOf({ attributes, children, text }: Element, at = ''): string[] {
  return [
    ...Object.entries(attributes).map(([name, value]) => `${at}@${name} ${value}`),
    ...(children.length === 0 && text !== '' ? [`${at.slice(0, -1)} ${text}`] : []),
    ...children.flatMap((child) => factsOf(child, `${at}${child.name}/`)),
  ]
}

/** The same of what is expected: a text, attributes and children by name; what is absent is left out. */
type Expected = string | undefined | { readonly [name: string]: Expected }

function expectedOf(value: Expected, at: string): string[] {
  if (value === undefined) return []
  if (typeof value === 'string') return [`${at} ${value}`]
  return Object.entries(value).flatMap(([name, inner]) => expectedOf(inner, `${at}/${name}`))
}

const placeOf = (fact: string) => fact.split(' ', 1)[0] ?? ''

function found(of: Element, ...names: readonly string[]): Element[] {
  return names.reduce((all, name) => all.flatMap(({ children }) => children.filter((one) => one.name === name)), [of])
}

/** What the store knows besides the record: the operator's table of purpose codes, and who wrote the totals. */
type Store = { readonly codeOf: ReadonlyMap<string, string>; readonly source: 'import' | 'upstream' }

const utcDay = (text: string) => new Date(text).toISOString().slice(0, 10) as IsoDate

/** Plain words (iati.md 1.2). */
function words(text: string | undefined): string | undefined {
  const lines = text
    ?.replace(/<br ?\/?>|<\/?p>/g, '\n')
    .replaceAll('&amp;', '&')
    .split(/[\r\n]+/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
  return lines?.filter((line) => line !== '').join('\n') || undefined
}

/** Shares of 100 that differ by 0.01 at most, the larger ones first (iati.md 6.1 and 7.1). */
function shares(count: number): (string | undefined)[] {
  if (count < 2) return [undefined]
  return Array.from({ length: count }, (_, at) =>
    ((Math.floor(10_000 / count) + Number(at < 10_000 % count)) / 100).toFixed(2),
  )
}

/**
 * Every fact of the activity of a record without gifts, payouts and reports of days of their own, in the order of the schema:
 * docs/contract/iati.md as it is read, written a second time.
 */
function rulesOf(record: Element, { codeOf, source }: Store, now: string): string[] {
  const said = (...names: string[]) => found(record, ...names)[0]?.text || undefined
  const narrative = (text: string | undefined) => (words(text) === undefined ? undefined : { narrative: words(text) })
  const facts: string[] = []
  const fact = (name: string, value: Expected) => facts.push(...expectedOf(value, name))
  const id = said('id') ?? ''
  const identifier = `${publisher.ref}-${id}`
  const [status, title, goal = '0'] = [said('status'), said('title'), said('goal')]
  const partner = found(record, 'organization')[0] && said('organization', 'name')
  const countries = found(record, 'countries', 'country', 'iso3166CountryCode')
    .map(({ text }) => text)
    .sort()
  const themes = found(record, 'themes', 'theme').map(
    (one) => [found(one, 'id')[0]?.text ?? '', found(one, 'name')[0]?.text] as const,
  )
  const platform = { '@ref': publisher.ref, '@type': publisher.type }
  const [funding, report] = [said('funding') ?? '0', said('dateOfMostRecentReport')]
  const isKnownToHaveRun = [funding, said('numberOfDonations')].some((one) => Number(one) > 0) || report !== undefined

  fact('@last-updated-datetime', now)
  fact('@xml:lang', 'en')
  fact('@default-currency', 'USD')
  fact('@humanitarian', themes.some(([theme]) => theme === 'disaster') ? '1' : '0')
  fact('@hierarchy', '1')
  fact('iati-identifier', identifier)
  fact('reporting-org', { ...platform, '@secondary-reporter': '0', narrative: publisher.name })
  fact('title', narrative(title))
  const description = (type: string, text: string | undefined) =>
    words(text) && fact('description', { '@type': type, ...narrative(text) })
  description('1', said('summary') ?? title)
  description('2', [said('need'), said('longTermImpact')].flatMap((text) => words(text) ?? []).join('\n'))
  description('4', said('activities'))

  fact('participating-org', { '@role': '1', '@type': '90', narrative: donors })
  fact('participating-org', { '@role': '3', ...platform, narrative: publisher.name })
  if (partner !== undefined) {
    const ein = said('organization', 'ein')?.replace('-', '')
    const home = said('organization', 'iso3166CountryCode')
    const type = home && (countries.includes(home) ? '24' : '22')
    fact('participating-org', { '@role': '4', '@ref': ein && `US-EIN-${ein}`, '@type': type, ...narrative(partner) })
  }
  fact('other-identifier', { '@ref': id, '@type': 'A1' })
  fact('activity-status', {
    '@code': { funded: '3', retired: isKnownToHaveRun ? '4' : '5', active: '6' }[status ?? ''],
  })
  const start = utcDay(said('approvedDate') ?? '')
  fact('activity-date', { '@type': '1', '@iso-date': start })
  const page = said('projectLink')
  const address = page && new URL(page).href
  // Some state a mailbox, which may be a person's.
  const contactUrl = said('contactUrl')?.startsWith('http') ? said('contactUrl') : undefined
  if (partner !== undefined || page !== undefined || contactUrl !== undefined) {
    fact('contact-info', { '@type': '1', organisation: narrative(partner ?? publisher.name), website: address })
    fact('contact-info', { website: contactUrl && new URL(contactUrl).href })
  }

  fact('activity-scope', { '@code': countries.length === 0 ? '1' : countries.length === 1 ? '4' : '3' })
  for (const [at, percentage] of shares(countries.length).entries())
    fact('recipient-country', countries[at] && { '@code': countries[at], '@percentage': percentage })
  if (countries.length === 0) fact('recipient-region', { '@code': '998', '@vocabulary': '1' })
  const [latitude, longitude] = [Number(said('latitude') ?? 0), Number(said('longitude') ?? 0)]
  if (latitude !== 0 || longitude !== 0) {
    const pos = [latitude, longitude].map((one) => String(Number(one.toFixed(5)))).join(' ')
    const point = { '@srsName': 'http://www.opengis.net/def/crs/EPSG/0/4326', pos }
    fact('location', { 'location-reach': { '@code': '1' }, point, exactness: { '@code': '2' } })
  }
  const codes = [...new Set(themes.map(([theme]) => codeOf.get(theme) ?? ''))].filter((code) => code !== '')
  if (codes.length === 0) codes.push('99810')
  for (const [at, percentage] of shares(codes.length).entries())
    fact('sector', { '@vocabulary': '1', '@code': codes[at], '@percentage': percentage })
  for (const [at, [theme, name]] of themes.entries()) {
    const own = { '@vocabulary': '99', '@vocabulary-uri': `${publisher.page}/#themes`, '@code': theme }
    fact('sector', { ...own, '@percentage': shares(themes.length)[at], ...narrative(name) })
  }
  fact('default-flow-type', { '@code': '30' })
  fact('default-finance-type', { '@code': '110' })
  fact('default-aid-type', { '@code': 'C01' })

  const changed = utcDay(said('modifiedDate') ?? '')
  const day = (value: string) => ({ '@iso-date': value })
  const value = (amount: string, on: string) => ({
    '@currency': 'USD',
    '@value-date': on,
    '': Number(amount).toFixed(2),
  })
  if (Number(goal) > 0 && (status !== 'retired' || isKnownToHaveRun)) {
    const firstYear = addDays(addMonths(start, 12), -1)
    const newest = [changed, report ? utcDay(report) : changed].sort().at(-1) ?? changed
    const ends = { 'period-start': day(start), 'period-end': day(newest < firstYear ? newest : firstYear) }
    fact('budget', { '@type': '1', '@status': '1', ...ends, value: value(goal, start) })
  }
  if (Number(funding) > 0) {
    const number = said('numberOfDonations')
    const count = number === '0' ? '' : ` (${number} ${number === '1' ? 'donation' : 'donations'})`
    fact('transaction', {
      '@ref': `open-${id}-${changed}-${source}-USD`,
      'transaction-type': { '@code': '1' },
      'transaction-date': day(changed),
      value: value(funding, changed),
      description: { narrative: `Donations received until ${changed}, cumulative${count}` },
      'provider-org': { '@type': '90', narrative: donors },
      'receiver-org': { '@receiver-activity-id': identifier, ...platform, narrative: publisher.name },
    })
  }
  const link = (url: string | undefined, format: string, text: string, category: string, ours: boolean) =>
    url &&
    fact('document-link', {
      ...{ '@url': new URL(url).href, '@format': format, title: narrative(text), category: { '@code': category } },
      language: ours ? { '@code': 'en' } : undefined,
    })
  const plan = said('additionalDocumentation')
  const ending = /\.(\w+)(?:\?.*)?$/.exec(plan ?? '')?.[1]?.toLowerCase() ?? ''
  link(page, 'text/html', title ?? '', 'A12', true)
  link(
    plan,
    { doc: 'application/msword', pdf: 'application/pdf' }[ending] ?? '',
    `Additional documentation: ${title}`,
    'A02',
    false,
  )
  if (Number(said('numberOfReports') ?? 0) > 0)
    link(said('progressReportLink'), 'text/html', `Progress reports: ${title}`, 'A08', true)
  return facts.map((one) => one.replace(/^(\S+)\/ /, '$1 '))
}

const environmentOf = ({ url }: TestDatabase, dataDir: string) => ({
  ...{ DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'silent', BASE_URL: publisher.page, ...noRates },
  ...{ REPORTING_ORG_REF: publisher.ref, REPORTING_ORG_NAME: publisher.name, REPORTING_ORG_TYPE: publisher.type },
})

/** Ways by which records come into a store, each by its command. */
const ways = {
  import: async (file: string, environment: Record<string, string>) => {
    const { stdout, stderr } = await runCommandLine(['import', file], environment)
    expect(stdout + stderr).toContain(' 0 refused')
  },
  upstream: async (file: string, environment: Record<string, string>) => {
    const records = found(parseElement(await readFile(file), recordLimits), 'project').map(fromElement)
    const upstream = await startUpstream({
      format: 'xml',
      records: (records as unknown as UpstreamRecord[]).map((one) => ({ ...one, id: Number(one.id) })),
    })
    const mirrored = {
      ...{ ...environment, UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: apiKey, UPSTREAM_RATE: '1000' },
      ...{ ALLOW_PRIVATE_NETWORKS: 'true', PUBLISH_SCHEDULE: '0 0 29 2 *' },
    }
    const installation = await newInstallation(mirrored)
    try {
      await installation.serve('worker')
      const { code, stdout, stderr } = await runCommandLine(['sync', '--full', '--wait'], mirrored)
      expect([code, stdout + stderr]).toEqual([0, expect.stringContaining(' 0 refused')])
    } finally {
      await installation.remove()
      await upstream.close()
    }
  },
} as const

const real = realRecords('the published facts of real records')

describe.each([
  { kind: 'invented', page: undefined, source: 'import' },
  { kind: 'real', page: real, source: 'import' },
  { kind: 'real', page: real, source: 'upstream' },
] as const)('$kind records of projects that are over, by $source', ({ kind, page, source }) => {
  it.skipIf(kind === 'real' && page === undefined)('are published with no fact that follows from no rule', async () => {
    const folder = await temporaryFolder()
    const file = page ?? path.join(folder, 'projects.xml')
    if (page === undefined) await writeFile(file, invented)
    const database = await testDatabase()
    const environment = environmentOf(database, folder)
    await ways[source](file, environment)
    expect((await runCommandLine(['publish', '--inline'], environment)).code).toBe(0)

    const { rows } = await database.store.db.query<{ id: string; code: string }>(
      'select id, sector_code as code from theme where sector_code is not null',
    )
    const store = { codeOf: new Map(rows.map(({ id, code }) => [id, code])), source }
    const records = found(parseElement(await readFile(file), recordLimits), 'project')
    const published = parseElement(await readFile(path.join(folder, 'feeds/current/iati/activities.xml')), recordLimits)
    const now = published.attributes['generated-datetime'] ?? ''
    expect(published.children.map((activity) => factsOf(activity))).toEqual(
      records.map((record) => rulesOf(record, store, now)),
    )

    const clauses = clausesOf()
    const places = new Set(published.children.flatMap((one) => factsOf(one).map(placeOf)))
    expect([...places].filter((place) => !clauses.has(place))).toEqual([])
  })
})

/** The places of facts with the clauses that they follow from (iati.md 21.1). */
function clausesOf(): Map<string, string> {
  const rows = readTable(readProjectFile('docs/contract/iati.md'), '| Element | Facts')
  return new Map(
    rows.flatMap(([element = '', facts = '', , clauses = '']) =>
      facts
        .replaceAll('`', '')
        .split(' ')
        .map((fact) => [`${element}/${fact}`.replace(/^iati-activity\/|\/text$/g, ''), clauses] as const),
    ),
  )
}

it('each place of a fact has clauses of the contract, and no other place has any', () => {
  const golden = ['full', 'bare'].map((name) =>
    parseElement(Buffer.from(readProjectFile(`test/golden/iati/${name}-activity.xml`)), recordLimits),
  )
  const written = new Set(golden.flatMap((one) => factsOf(one).map(placeOf)))
  const clauses = clausesOf()
  expect([...clauses.keys()].sort()).toEqual([...written, '@last-updated-datetime', '@budget-not-provided'].sort())
  const contract = readProjectFile('docs/contract/iati.md')
  const cited = [...clauses.values()].flatMap((one) => one.split(', '))
  expect(cited.filter((clause) => !contract.includes(`\n**${clause} `))).toEqual([])
})
