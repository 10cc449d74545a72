import { type CatalogueFormat, cataloguePath, dataPackagePath, manifestPath } from '../../iati/addresses.js'
import { countryAddress, languageAddress } from './authority-codes.js'
import type { DescribedFile, PublicationDescription } from './publication-description.js'
import { type RdfNode, type RdfValue, toJsonLd, toRdfXml, toTurtle } from './rdf.js'

const prefixes = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
} as const

const writers = { jsonld: toJsonLd, ttl: toTurtle, rdf: toRdfXml } as const satisfies Record<CatalogueFormat, unknown>

/** The catalogue of what is published (DCAT-AP 3), in one of its formats, in parts. */
export function dcatCatalogue(description: PublicationDescription, format: CatalogueFormat): Iterable<string> {
  return writers[format](withTypesOfOthers(catalogueNodes(description)), prefixes)
}

/** The class that the value of each of these properties must have. */
const classes: Readonly<Record<string, string>> = {
  'dct:license': 'dct:LicenseDocument',
  'dct:accrualPeriodicity': 'dct:Frequency',
  'dct:language': 'dct:LinguisticSystem',
  'dct:spatial': 'dct:Location',
  'dcat:theme': 'skos:Concept',
  'dct:isReferencedBy': 'rdfs:Resource',
  'dct:format': 'dct:MediaTypeOrExtent',
  'dcat:mediaType': 'dct:MediaType',
  'dcat:landingPage': 'foaf:Document',
  'dcat:accessURL': 'rdfs:Resource',
  'dcat:downloadURL': 'rdfs:Resource',
  'foaf:homepage': 'foaf:Document',
}

/** States the class of every linked resource: the shapes of DCAT-AP require it in this document. */
function* withTypesOfOthers(nodes: Iterable<RdfNode>): Generator<RdfNode> {
  const types = new Map<string, string>()
  for (const node of nodes) {
    for (const [property, value] of node.properties) {
      const type = classes[property]
      if (type !== undefined && 'id' in value) types.set(value.id, type)
    }
    yield node
  }
  for (const [id, type] of types) yield { id, type, properties: [] }
}

/** The datasets of the catalogue: their files are its distributions. */
const sets = [
  {
    ...{ name: 'iati', title: 'IATI 2.03 files', keywords: ['IATI', 'development', 'giving'] },
    text: 'Activities and organisations as XML by the IATI standard, version 2.03.',
    has: ({ path }: DescribedFile) => path.startsWith('/iati/'),
  },
  {
    ...{ name: 'tables', title: 'Tables', keywords: ['IATI', 'transactions', 'CSV', 'Parquet'] },
    text: 'What the activities say as tables: activities, transactions, budgets, locations, sectors and more.',
    has: ({ table }: DescribedFile) => table !== undefined,
  },
  {
    ...{ name: 'reports', title: 'Progress reports', keywords: ['progress reports', 'Atom'] },
    text: 'Feeds of the progress reports of the projects.',
    has: ({ path }: DescribedFile) => path.endsWith('.atom'),
  },
]

// International issues; population and society.
const themes = ['INTR', 'SOCI'].map((one) => `http://publications.europa.eu/resource/authority/data-theme/${one}`)
const frequencyDaily = 'http://publications.europa.eu/resource/authority/frequency/DAILY'
const fileTypes = 'http://publications.europa.eu/resource/authority/file-type'
const mediaTypes = 'https://www.iana.org/assignments/media-types'

function* catalogueNodes(description: PublicationDescription): Generator<RdfNode> {
  const { title, text, publisher, contact = {}, baseUrl, language, licence, files, coverage } = description
  const words = (one: string): RdfValue => ({ text: one, language })
  const catalogue = `${baseUrl}${cataloguePath('jsonld')}`
  const agent = { id: `${catalogue}#publisher` }
  const asked: RdfNode['properties'] = [
    ...(contact.email ? ([['vcard:hasEmail', { id: `mailto:${contact.email}` }]] as const) : []),
    ...(contact.page ? ([['vcard:hasURL', { id: contact.page }]] as const) : []),
  ]
  const point = { id: `${catalogue}#contact` }
  const there = sets.filter(({ has }) => files.some(has))
  const licensed: RdfNode['properties'] = licence ? [['dct:license', { id: licence.url }]] : []
  const period = { id: `${catalogue}#period` }
  const languageAt = languageAddress(language)
  const covered: RdfNode['properties'] = [
    ...(languageAt ? ([['dct:language', { id: languageAt }]] as const) : []),
    ...(coverage.issued ? ([['dct:issued', { value: coverage.issued, type: 'date' }]] as const) : []),
    ...(coverage.since ? ([['dct:temporal', period]] as const) : []),
    ...coverage.countries.flatMap((code) => {
      const id = countryAddress(code)
      return id ? ([['dct:spatial', { id }]] as const) : []
    }),
  ]
  yield {
    ...{ id: catalogue, type: 'dcat:Catalog' },
    properties: [
      ['dct:title', words(title)],
      ['dct:description', words(text)],
      ['dct:publisher', agent],
      ...licensed,
      ...covered,
      ['foaf:homepage', { id: `${baseUrl}/` }],
      ...there.map(({ name }) => ['dcat:dataset', { id: `${catalogue}#${name}` }] as const),
    ],
  }
  yield { ...agent, type: 'foaf:Agent', properties: [['foaf:name', words(publisher.name)]] }
  if (coverage.since) {
    const start = { value: coverage.since, type: 'gYear' } as const
    // Without an end: it goes on.
    yield { ...period, type: 'dct:PeriodOfTime', properties: [['dcat:startDate', start]] }
  }
  if (asked.length > 0)
    yield { ...point, type: 'vcard:Kind', properties: [['vcard:fn', words(publisher.name)], ...asked] }
  for (const set of there) {
    const own = files.filter(set.has)
    const idOf = ({ path }: DescribedFile) => `${catalogue}#${path}`
    yield {
      ...{ id: `${catalogue}#${set.name}`, type: 'dcat:Dataset' },
      properties: [
        ['dct:title', words(`${set.title}: ${title}`)],
        ['dct:description', words(set.text)],
        ['dct:publisher', agent],
        ...(asked.length > 0 ? ([['dcat:contactPoint', point]] as const) : []),
        ...covered,
        ...themes.map((id) => ['dcat:theme', { id }] as const),
        ['dct:accrualPeriodicity', { id: frequencyDaily }],
        ['dcat:landingPage', { id: `${baseUrl}/` }],
        ['dct:isReferencedBy', { id: `${baseUrl}${manifestPath}` }],
        ...set.keywords.map((keyword) => ['dcat:keyword', words(keyword)] as const),
        ...own.map((file) => ['dcat:distribution', { id: idOf(file) }] as const),
      ],
    }
    for (const file of own) {
      yield {
        ...{ id: idOf(file), type: 'dcat:Distribution' },
        properties: [
          ['dct:title', words(file.path.slice(1))],
          ['dct:description', words(describeFile(file))],
          ['dcat:accessURL', { id: `${baseUrl}${file.path}` }],
          ['dcat:downloadURL', { id: `${baseUrl}${file.path}` }],
          ['dcat:mediaType', { id: `${mediaTypes}/${file.mediaType.split(';')[0]}` }],
          ['dct:format', { id: `${fileTypes}/${fileTypeOf(file.path)}` }],
          ...licensed,
        ],
      }
    }
  }
}

/** What a file has, in a sentence. */
function describeFile({ path, table: one }: DescribedFile): string {
  if (one) return `${one.table.title}, a row each, with the columns that ${dataPackagePath} explains.`
  if (path.endsWith('.atom')) return 'Progress reports of the projects, the newest first.'
  if (path.endsWith('.json')) return 'Which activities there are, in which file, with a hash of each.'
  return path.includes('organisation')
    ? 'The organisation that publishes, its budgets and documents, as an IATI organisation file.'
    : 'Activities: who gives, who does what where, and with which money and results.'
}

/** The name of the EU's file type authority table. */
function fileTypeOf(path: string): string {
  const ending = path.slice(path.lastIndexOf('.') + 1).toUpperCase()
  return ending === 'ATOM' ? 'RSS' : ending
}

export const catalogueMediaTypes = {
  jsonld: 'application/ld+json',
  ttl: 'text/turtle; charset=utf-8',
  rdf: 'application/rdf+xml; charset=utf-8',
} as const satisfies Record<CatalogueFormat, string>
