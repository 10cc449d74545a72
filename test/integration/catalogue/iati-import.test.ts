import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { ActivityIndex } from '../../../src/release/read/activity-index.js'
import { listLeftOut } from '../../../src/release/sql/left-out.js'
import { coreFiles, testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { officialFiles } from '../../support/values/borrowed-files.js'
import { mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const ref = mappingConfig.reportingOrg.ref
const { store } = await testDatabase()
const folder = await temporaryFolder()
// A goal of the platform takes over budgets of another currency, which the guard would hold.
const publisher = await testPublisher(store, { ...coreFiles, maxLossPercent: 100 })

async function importing(name: string, text: string) {
  const file = path.join(folder, name)
  await writeFile(file, text)
  return await importFiles(store, [file], {
    ...{ source: 'import', clock: () => new Date('2026-11-20T08:00:00Z'), currency: 'USD' as CurrencyCode },
    publisherRef: ref,
  })
}

/** The child elements of each published activity, in canonical text, by identifier. */
async function published(): Promise<Map<string, string[]>> {
  await publisher.publish({ force: true })
  return elementsOf(await publisher.read('/iati/activities.xml'))
}

async function publishedOrganisations(): Promise<Map<string, string[]>> {
  await publisher.publish({ force: true })
  return elementsOf(await publisher.read('/iati/organisations.xml'))
}

function elementsOf(file: string): Map<string, string[]> {
  const root = parseElement(file, recordLimits)
  return new Map(
    root.children.map((record) => {
      const named = record.children.find(({ name }) => /^(iati|organisation)-identifier$/.test(name))
      return [named?.text.trim() ?? '', record.children.map(canonical)]
    }),
  )
}

function canonical(one: Element): string {
  const sorted = ({ name, attributes, children, text }: Element): Element => ({
    ...{ name, children: children.map(sorted), text: text.trim() },
    attributes: Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))),
  })
  return writeElement(sorted(one))
}

/** Says what of the elements of a file is missing from what is published; the publisher's own record is the store's. */
function lost(before: Map<string, string[]>, after: Map<string, string[]>): string[] {
  return [...before].flatMap(([identifier, elements]) =>
    elements
      .filter((one) => !one.startsWith('<reporting-org') && !after.get(identifier)?.includes(one))
      .map((one) => `${identifier}: ${one.slice(0, 200)}`),
  )
}

const activity = (identifier: string, more: string, attributes = '') =>
  `<iati-activity xml:lang="en" default-currency="EUR" ${attributes}><iati-identifier>${identifier}</iati-identifier>
   <reporting-org ref="${ref}" type="22"><narrative>Old</narrative></reporting-org>
   <title><narrative>Old title</narrative><narrative xml:lang="fr">Ancien titre</narrative></title>
   <description type="1"><narrative>Old text</narrative></description>
   <participating-org ref="GB-COH-1" role="4" type="24"><narrative>Partner</narrative></participating-org>
   <activity-status code="2"/><activity-date type="2" iso-date="2020-01-01"><narrative>As agreed</narrative></activity-date>
   <recipient-country code="KE"/><sector vocabulary="1" code="14031"/>${more}</iati-activity>`
const file = (...activities: string[]) =>
  `<?xml version="1.0"?><iati-activities version="2.03" xmlns:x="https://x.example/ns">${activities.join('')}</iati-activities>`

const history = `<policy-marker code="1" significance="1"/><default-flow-type code="10"/>
  <budget type="1"><period-start iso-date="2020-01-01"/><period-end iso-date="2020-12-31"/><value value-date="2020-01-01">100</value></budget>
  <budget type="1"><period-start iso-date="2027-01-01"/><period-end iso-date="2027-12-31"/><value value-date="2027-01-01">100</value></budget>
  <transaction ref="old-1"><transaction-type code="3"/><transaction-date iso-date="2020-05-01"/><value value-date="2020-05-01">55</value></transaction>
  <related-activity ref="${ref}-OTHER" type="2"/><conditions attached="0"/><x:note x:kind="a">Own words</x:note>`

describe('a publisher who moves here', { shuffle: false }, () => {
  it('an activity becomes a project with its identifier; nothing of it is lost or changed', async () => {
    const text = file(activity(`${ref}-A/1`.replace('/', '.'), history), activity(`${ref}-B`, '', 'hierarchy="2"'))
    const summary = await importing('old.xml', text)
    expect(summary).toMatchObject({ created: 2, refused: 0, problems: [] })
    expect(summary.elements).toMatchObject({
      title: { taken: 2, kept: 0 },
      budget: { taken: 0, kept: 2 },
      'x:note': { taken: 0, kept: 1 },
    })
    const after = await published()
    expect((await publisher.manifest()).held.sample).toEqual([])
    expect([...after.keys()].sort()).toEqual([`${ref}-A.1`, `${ref}-B`])
    expect(lost(elementsOf(text), after)).toEqual([])
    // Nothing is said that the file did not say, but the store's own number.
    const added = [...after].flatMap(([id, all]) => all.filter((one) => !elementsOf(text).get(id)?.includes(one)))
    expect(added.filter((one) => !/^<(reporting-org|other-identifier)/.test(one))).toEqual([])
    expect(await publisher.read('/iati/activities.xml')).toContain('hierarchy="2"')
    expect(await importing('old.xml', text)).toMatchObject({ created: 0, changed: 0, unchanged: 2 })
  })

  it('the data of the platform takes over where it has some, and history stays', async () => {
    const csv = (name: string, ...lines: string[]) => importing(name, `${lines.join('\n')}\n`)
    const projects = await csv(
      'projects.csv',
      'externalId,iatiIdentifier,title,status,summary,goal,approvedDate,deadline',
      `well,${ref}-A.1,New title,active,New text,9000,2026-12-01,2028-12-31`,
    )
    expect(projects).toMatchObject({ changed: 1, created: 0, refused: 0, problems: [] })
    expect(
      await csv('gifts.csv', 'project,date,amount,currency,reference', 'well,2026-10-05,25.00,USD,G-1'),
    ).toMatchObject({ created: 1 })
    const all = (await published()).get(`${ref}-A.1`)?.join('\n') ?? ''
    for (const part of [
      'New title',
      'New text',
      'old-1',
      '2020-12-31',
      '>25.00<',
      'policy-marker',
      'Own words',
      '2028-12-31',
    ]) {
      expect(all, part).toContain(part)
    }
    for (const part of ['Old title', 'Old text', 'period-start iso-date="2027-01-01"', 'As agreed'])
      expect(all, part).not.toContain(part)
    expect((await publisher.manifest()).held.sample).toEqual([])
  })

  const money = (name: string, year: number, value: string) =>
    `<${name}><period-start iso-date="${year}-01-01"/><period-end iso-date="${year}-12-31"/><value value-date="${year}-01-01">${value}</value></${name}>`
  const organisation = (identifier: string, name: string, more: string) =>
    `<iati-organisation default-currency="EUR" xml:lang="fr"><organisation-identifier>${identifier}</organisation-identifier>
  <name><narrative>${name}</narrative><narrative xml:lang="en">${name} in English</narrative></name>
  <reporting-org ref="${ref}" type="22"><narrative>Old</narrative></reporting-org>${more}</iati-organisation>`
  const organisationFile = (...records: string[]) =>
    `<?xml version="1.0"?><iati-organisations version="2.03" xmlns:x="https://x.example/ns">${records.join('')}</iati-organisations>`

  it('an organisation file is published as it was, and what the store pays takes over from the day of the move', async () => {
    const recipient = (of: string, year: number) =>
      money('recipient-org-budget', year, '7').replace(
        '<period',
        `<recipient-org ref="${of}"><narrative>P</narrative></recipient-org><period`,
      )
    const past = [
      money('total-budget', 2024, '1000'),
      recipient('GB-COH-1', 2024),
      money('recipient-country-budget', 2025, '8').replace('<period', '<recipient-country code="KE"/><period'),
      money('total-expenditure', 2023, '900'),
      '<document-link url="https://old.example/report.pdf" format="application/pdf"><title><narrative>Rapport</narrative></title><category code="B01"/></document-link>',
      '<x:note x:kind="a">Own words</x:note>',
    ].join('')
    const { name, type } = mappingConfig.reportingOrg
    const text = organisationFile(
      organisation(ref, name, past.replace('<recipient-country-budget', `${recipient('GB-COH-1', 2027)}$&`)),
      organisation('GB-COH-1', 'Partenaire', money('total-budget', 2027, '50')),
    )
    expect(await importing('organisations.xml', text)).toMatchObject({
      ...{ created: 2, refused: 0, problems: [] },
      elements: { name: { taken: 0, kept: 2 }, 'total-budget': { taken: 0, kept: 2 }, 'x:note': { taken: 0, kept: 1 } },
    })
    expect(lost(elementsOf(text), await publishedOrganisations())).toEqual([])
    expect((await publisher.read('/iati/organisations.xml')).match(/<reporting-org[^>]*>/g)).toEqual([
      `<reporting-org ref="${ref}" type="${type}">`,
      `<reporting-org ref="${ref}" type="${type}">`,
    ])
    expect(await importing('organisations.xml', text)).toMatchObject({ created: 0, changed: 0, unchanged: 2 })

    const csv = (name: string, ...lines: string[]) => importing(name, `${lines.join('\n')}\n`)
    await csv('organizations.csv', 'externalId,name,orgRef', 'partner,Partner,GB-COH-1')
    await csv('projects.csv', 'externalId,title,status,organization', 'pump,Pump,active,partner')
    const plan = await csv('payout-plans.csv', 'project,reference,date,amount,currency', 'pump,P-1,2027-05-05,70,USD')
    expect(plan).toMatchObject({ created: 1, problems: [] })
    const all = await publishedOrganisations()
    const own = all.get(ref)?.join('\n') ?? ''
    expect(lost(elementsOf(organisationFile(organisation(ref, name, past))), all)).toEqual([])
    expect(own.match(/<value[^>]*>[^<]*(?=<\/value><\/recipient-org-budget)/g)).toEqual([
      '<value value-date="2024-01-01">7',
      '<value currency="USD" value-date="2027-01-01">70.00',
    ])
    expect(own).toContain(`<recipient-org ref="GB-COH-1"><narrative xml:lang="en">Partner</narrative>`)
    expect(all.get('GB-COH-1')?.join('')).toMatch(/<narrative xml:lang="en">Partner<.*>50</s)
  })

  it('says what it refuses, and reads no DOCTYPE and no other version', async () => {
    const bad = await importing(
      'bad.xml',
      file(
        activity('', ''),
        activity('XX-OTHER-1', '').replace(`reporting-org ref="${ref}"`, 'reporting-org ref="XX-OTHER"'),
        activity(
          `${ref}-M`,
          '<conditions attached="1">loose<condition type="1"><narrative>c</narrative></condition></conditions>',
        ),
        '<iati-activity><iati-identifier>GB-1</iati-identifier></iati-activity>',
        activity(`${ref}-GOOD`, ''),
      ),
    )
    expect(bad.problems.map(({ field }) => field).sort()).toEqual([
      'conditions',
      'iati-identifier',
      'reporting-org',
      'reporting-org',
    ])
    expect(bad).toMatchObject({ created: 1, refused: 4 })
    const large = activity(`${ref}-LARGE`, '').replace('Old text', 'A word. '.repeat(2_100_000))
    expect(await importing('large.xml', file(large, activity(`${ref}-GOOD`, '')))).toMatchObject({
      ...{ unchanged: 1, refused: 1 },
      problems: [{ field: 'iati-activity', expected: 'a record within the limits', line: 1 }],
    })
    const reason = async (text: string) => (await importing('x.xml', text)).problems[0]?.got
    expect(
      await reason(
        `<!DOCTYPE a [<!ENTITY e "x">]>${file(activity(`${ref}-D`, '')).replace('<?xml version="1.0"?>', '')}`,
      ),
    ).toMatch('DOCTYPE')
    expect(await reason(file(activity(`${ref}-D`, '')).replace('2.03', '1.05'))).toMatch('of version 1.05')
    expect(await importing('nobody.xml', organisationFile(organisation(' ', 'Nobody', '')))).toMatchObject({
      ...{ created: 0, refused: 1, problems: [{ field: 'organisation-identifier' }] },
    })
    const { problems } = await importFiles(store, [path.join(folder, 'x.xml')], {
      ...{ source: 'import', clock: () => new Date(), currency: 'USD' as CurrencyCode, kind: 'iati' },
    })
    expect(problems[0]?.got).toMatch('version 1.05')
  })

  it('one wrong element of an organisation file is left out and named, until the file is corrected', async () => {
    const link = (category: string) =>
      `<document-link url="https://old.example/${category}" format="text/html"><title><narrative>A</narrative></title><category code="${category}"/></document-link>`
    const text = organisationFile(
      organisation(ref, 'Old', `\n${money('total-budget', 2024, '1000')}\n${link('B01')}\n${link('B1')}`),
    )
    const summary = await importing('wrong.xml', text)
    expect(summary.moved).toMatchObject({
      organisations: { publishable: 1, heldInPart: 1 },
      rules: [{ code: 'code-unknown', count: 1, examples: [{ line: 6, recordId: ref }] }],
    })
    const own = (await publishedOrganisations()).get(ref)?.join('') ?? ''
    expect(own).toContain('>1000<')
    expect(own).toContain('https://old.example/B01')
    expect(own).not.toContain('https://old.example/B1"')
    expect(await listLeftOut(store.db)).toMatchObject([{ identifier: ref, code: 'code-unknown', line: 6 }])
    // No activity changes: what the organisation file says is published all the same.
    await importing('wrong.xml', text.replace('code="B1"', 'code="B16"'))
    expect((await publisher.publish()).state).toBe('published')
    expect(await publisher.read('/iati/organisations.xml')).toContain('https://old.example/B1"')
    expect(await listLeftOut(store.db)).toEqual([])
  })

  it('what the standard only advises is published as it was; files come in any encoding', async () => {
    const odd = activity(
      `${ref}-A/B &amp;\n C`,
      '<document-link url="https://old.example/final report.pdf" format="application/pdf"><title><narrative>\u00c9t\u00e9</narrative></title><category code="A08"/></document-link>',
    )
    const text = `\n${file(odd).replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-16"?>')}`
    await writeFile(path.join(folder, 'odd.xml'), Buffer.from(`\uFEFF${text}`, 'utf16le'))
    const summary = await importFiles(store, [path.join(folder, 'odd.xml')], {
      ...{ source: 'import', clock: () => new Date('2026-11-20T08:00:00Z'), currency: 'USD' as CurrencyCode },
      publisherRef: ref,
    })
    expect(summary).toMatchObject({
      created: 1,
      problems: [],
      moved: { activities: { publishable: 1, held: 0 }, rules: [] },
    })
    await publisher.publish({ force: true })
    const published = await publisher.read('/iati/activities.xml')
    expect(published).toContain(`<iati-identifier>${ref}-A/B &amp;\n C</iati-identifier>`)
    expect(published).toContain('final report.pdf')
    expect(published).toContain('\u00c9t\u00e9')
    expect((await publisher.manifest()).held.sample).toEqual([])
  })

  it('is found in the index by its identifier, whatever is in it and however long it is', async () => {
    const identifiers = [`${ref}-\u00c9t\u00e9-\u4e95`, `${ref}-"A\\B"`, `${ref}-${'\u4e95'.repeat(900)}`]
    const one = (identifier: string) => activity(identifier.replaceAll('"', '&quot;'), '')
    expect(await importing('index.xml', file(identifiers.map(one).join('')))).toMatchObject({ created: 3 })
    await publisher.publish()
    const index = await ActivityIndex.read(await publisher.live())
    expect(identifiers.map((wanted) => index?.entry(index.rowOf(wanted) ?? 0).identifier)).toEqual(identifiers)
  })

  it('official example files are published as they were', async (context) => {
    const samples = officialFiles()
    if (!samples) return context.skip('it needs iati/samples: set TEST_FILES')
    await store.db.query('delete from payout_plan')
    for (const name of ['activities', 'organisations'] as const) {
      const file = readFileSync(path.join(samples, 'samples', `${name}.sample.xml`), 'utf8')
      const text = file
        .replaceAll('US-EIN-12-3456789', ref)
        .replaceAll('Example Giving Platform', mappingConfig.reportingOrg.name)
      expect(await importing(`${name}.xml`, text)).toMatchObject({ refused: 0, brokenFiles: 0 })
      expect(lost(elementsOf(text), await (name === 'activities' ? published() : publishedOrganisations()))).toEqual([])
    }
  })
})
