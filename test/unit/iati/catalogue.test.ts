// @ts-expect-error The package has no types.
import jsonld from 'jsonld'
import { Parser, type Quad } from 'n3'
import { describe, expect, it } from 'vitest'
import { dataPackage } from '../../../src/extensions/descriptions/data-package.js'
import { dcatCatalogue } from '../../../src/extensions/descriptions/dcat.js'
import { llmsText } from '../../../src/extensions/descriptions/llms-text.js'
import { describePublication } from '../../../src/extensions/descriptions/publication-description.js'
import { type CatalogueFormat, catalogueFormats, tableFormats, tablePath } from '../../../src/iati/addresses.js'
import { tables } from '../../../src/iati/tables/tables.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import { licenceIds, licences } from '../../../src/kernel/licence.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement } from '../../../src/kernel/xml/reader.js'
import { dataPackageFindings, dcatFindings } from '../../support/release/catalogue-check.js'
import { mappingConfig } from '../../support/values/builders.js'

const files = [
  ...['/iati/activities.xml', '/iati/organisations.xml'].map((path) => ({
    path,
    mediaType: 'application/xml; charset=utf-8',
  })),
  { path: '/feeds/reports.atom', mediaType: 'application/atom+xml; charset=utf-8' },
  ...tableFormats.flatMap((format) =>
    tables.map(({ name }) => ({ path: tablePath(name, format), mediaType: `text/${format}; charset=utf-8` })),
  ),
]
const reportingOrg = { ...mappingConfig.reportingOrg, name: 'Giving "Lakes" & \\ <Söhne>\nsecond line' }
const contact = { email: 'data@giving.example', page: 'https://giving.example/contact' }
const coverage = { issued: '2026-11-20' as IsoDate, since: '2019', countries: ['TZ', 'UG'] }
const description = describePublication({ ...mappingConfig, reportingOrg, contact, licence: 'cc-by' }, files, coverage)

const catalogueIn = (format: CatalogueFormat, described = description) => [...dcatCatalogue(described, format)].join('')

const sorted = (quads: Iterable<Quad>) =>
  [...quads]
    .map(({ subject, predicate, object }) => {
      const rest = object.termType === 'Literal' ? ` ${object.language || object.datatype.value}` : ''
      return `${subject.value} ${predicate.value} ${object.value}${rest}`
    })
    .sort()

async function ofJsonLd(): Promise<Quad[]> {
  const quads = await jsonld.toRDF(JSON.parse(catalogueIn('jsonld')), { format: 'application/n-quads' })
  return new Parser({ format: 'N-Quads' }).parse(quads as string)
}

/** The triples of RDF/XML in the one form that the catalogue uses: typed nodes with properties. */
function ofRdfXml(text: string): string[] {
  const root = parseElement(text, { depth: 9, elements: 10_000, attributes: 20, characters: 1_000_000 })
  const whole = (name: string) => {
    const [prefix = '', local = ''] = name.split(':')
    return `${root.attributes[`xmlns:${prefix}`]}${local}`
  }
  const rdfType = whole('rdf:type')
  const triples = (node: Element): string[] => {
    const subject = node.attributes['rdf:about']
    return [
      `${subject} ${rdfType} ${whole(node.name)}`,
      ...node.children.map(({ name, attributes, text: value }) =>
        attributes['rdf:resource'] === undefined
          ? `${subject} ${whole(name)} ${value} ${attributes['xml:lang'] ?? attributes['rdf:datatype']}`
          : `${subject} ${whole(name)} ${attributes['rdf:resource']}`,
      ),
    ]
  }
  return root.children.flatMap(triples).sort()
}

describe('the catalogue', () => {
  const turtle = new Parser().parse(catalogueIn('ttl'))

  it('says the same in Turtle, JSON-LD and RDF/XML', async () => {
    const expected = sorted(turtle)
    expect(expected.length).toBeGreaterThan(300)
    expect(sorted(await ofJsonLd())).toEqual(expected)
    expect(ofRdfXml(catalogueIn('rdf'))).toEqual(expected)
  })

  it('has what DCAT-AP makes mandatory', async () => {
    expect(await dcatFindings(catalogueIn('ttl'))).toEqual([])
  })

  it('has what DCAT-AP recommends, where the publisher knows it', () => {
    const said = (text: string) => new Set(text.match(/\b(?:dct|dcat):\w+/g))
    const recommended = ['issued', 'language', 'spatial', 'temporal', 'theme', 'description', 'contactPoint', 'keyword']
    const lacks = (text: string) =>
      recommended.filter((name) => !said(text).has(`dct:${name}`) && !said(text).has(`dcat:${name}`))
    expect(lacks(catalogueIn('ttl'))).toEqual([])
    const without = { contact: undefined, language: 'zz', coverage: { countries: ['XX', 'ZA '] } }
    expect(lacks(catalogueIn('ttl', { ...description, ...without }))).toEqual([
      'issued',
      'language',
      'spatial',
      'temporal',
      'contactPoint',
    ])
    const places = turtle
      .filter(({ predicate }) => predicate.value.endsWith('/spatial'))
      .map(({ object }) => object.value)
    const country = 'http://publications.europa.eu/resource/authority/country'
    expect(new Set(places)).toEqual(new Set([`${country}/TZA`, `${country}/UGA`]))
  })

  it.each(['dcat:accessURL', 'foaf:name', 'dcat:dataset', 'dct:title', 'dct:publisher'])(
    'would not have it without %s',
    async (property) => {
      const cut = catalogueIn('ttl').replaceAll(`${property} `, 'dct:other ')
      expect(await dcatFindings(cut)).not.toEqual([])
    },
  )

  it.each(catalogueFormats)('is made in parts as %s, however many files there are', (format) => {
    expect([...dcatCatalogue(description, format)].length).toBeGreaterThan(2 * files.length)
  })

  it('names every file once, under the address at which it is', () => {
    const addresses = turtle.filter(({ predicate }) => predicate.value.endsWith('#downloadURL'))
    expect(addresses.map(({ object }) => object.value).sort()).toEqual(
      files.map(({ path }) => `${mappingConfig.baseUrl}${path}`).sort(),
    )
  })
})

describe('the data package', () => {
  const read = JSON.parse(dataPackage(description)) as {
    resources: {
      name: string
      path: string
      schema: { fields: { name: string }[]; primaryKey: string[]; foreignKeys?: { reference: { resource: string } }[] }
    }[]
  }

  it('is what Data Package 2.0 demands', () => {
    expect(dataPackageFindings(read)).toEqual([])
  })

  it('has a resource for every file of a table, with keys that lead to columns and resources', () => {
    const names = read.resources.map(({ name }) => name)
    expect(new Set(names).size).toBe(files.length - 3)
    for (const { schema } of read.resources) {
      const columns = schema.fields.map(({ name }) => name)
      expect(new Set(columns).size).toBe(columns.length)
      expect(columns).toEqual(expect.arrayContaining(schema.primaryKey))
      for (const { reference } of schema.foreignKeys ?? []) expect(names).toContain(reference.resource)
    }
  })
})

it('the licence is in every description, and missing where none is set', () => {
  expect(licenceIds.every((id) => licences[id].startsWith('https://'))).toBe(true)
  const all = (one: typeof description) => [
    dataPackage(one),
    ...(['jsonld', 'ttl', 'rdf'] as const).map((format) => catalogueIn(format, one)),
    llmsText(one),
  ]
  for (const text of all(description)) expect(text).toContain(licences['cc-by'])
  const { licence: _, ...without } = description
  for (const text of all(without)) expect(text).not.toMatch(/creativecommons|dct:license/)
})

it('llms.txt names the manifest and every table', () => {
  const text = llmsText(description)
  expect(text.split('\n')[0]).toBe('# Projects of Giving "Lakes" & \\ <Söhne> second line')
  for (const path of [
    '/feeds/manifest.json',
    '/data/datapackage.json',
    ...tables.map(({ name }) => `/data/${name}.parquet`),
  ]) {
    expect(text).toContain(`(${mappingConfig.baseUrl}${path})`)
  }
})
