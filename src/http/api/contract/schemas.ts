import { errorKinds } from '../../../kernel/errors.js'
import { isOptionalOnWire, kindOf, type NamedField, wireFieldsOf, wireNameOf } from '../../../kernel/nouns/field.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import { renditions } from '../../../kernel/project.js'
import { arrayOf, type OpenApiSchema, objectOf, ref, values, wrapperOf } from './openapi-schema.js'

const { text, boolean, integer, decimal, amount, instant } = values
const status: OpenApiSchema = { type: 'string', enum: ['active', 'funded', 'retired'] }

/** The schemas of the kinds of fields, as `src/catalogue/wire/write/fields.ts` writes them. */
const kinds: Readonly<Record<string, OpenApiSchema>> = {
  text,
  textOrEmpty: text,
  address: text,
  addressOrEmpty: text,
  country: { type: 'string', description: 'Two letters (ISO 3166-1); empty when unknown.' },
  status,
  boolean,
  instant,
  id: integer,
  count: integer,
  bigint: values.long,
  money: amount,
  latitude: decimal,
  longitude: decimal,
}

const themes = wrapperOf('theme', ref('Theme'))
const countries = wrapperOf('country', ref('Country'))

const projectValues: Readonly<Record<string, OpenApiSchema>> = {
  organization: ref('Organization'),
  videos: wrapperOf('video', objectOf({ url: text })),
  donationOptions: wrapperOf('donationOption', objectOf({ amount: integer, description: text })),
  image: ref('Image'),
  themes,
  countries,
}

const organisationValues: Readonly<Record<string, OpenApiSchema>> = { themes, countries }

/** Fields of a record by their names in the wire format, with the schemas of their kinds. */
function recordOf(fields: readonly NamedField[], values: Readonly<Record<string, OpenApiSchema>>) {
  return Object.fromEntries(
    fields.map((one) => {
      const name = wireNameOf(one)
      const schema = values[name] ?? kinds[kindOf(one)]
      if (!schema) throw new TypeError(`the field ${name} has no schema`)
      return [isOptionalOnWire(one) ? `${name}?` : name, schema]
    }),
  )
}

const projectRecord = wireFieldsOf(projectFields)
const project = recordOf(projectRecord, projectValues)
const summary = recordOf(
  projectRecord.filter(({ wire }) => wire?.summary),
  projectValues,
)

/** A page of projects; lists that are not paged never have `hasNext`. */
function projectPage(record: string): OpenApiSchema {
  return objectOf(
    {
      ...{ 'hasNext?': { type: 'boolean', const: true }, 'nextProjectId?': integer },
      'project?': arrayOf(ref(record)),
      '@numberFound': { ...integer, description: 'Size of the whole list, wherever the page begins.' },
    },
    { xml: { name: 'projects' } },
  )
}

function searchAnswer(record: string): OpenApiSchema {
  const request = objectOf({
    'filters?': wrapperOf('filter', objectOf({ name: text, value: text })),
    ...{ q: text, start: integer, summary: boolean },
  })
  const response = objectOf({
    'projects?': objectOf({ project: { ...arrayOf(ref(record)), minItems: 1 } }),
    ...{ '@start': integer, '@numberFound': integer },
  })
  return objectOf({ request, response }, { xml: { name: 'search' } })
}

const errorNumber: OpenApiSchema = {
  type: 'integer',
  description:
    "101: a field or parameter is missing; 102: it has a wrong value; from 1000 on: the payment processor's code.",
}

const feedLink = objectOf({ href: text, rel: text, 'type?': text })
const feedAuthors = arrayOf(objectOf({ name: text }))

/** An Atom feed: OpenAPI 3.1 cannot say that an element has both attributes and text. */
export const atomFeed: OpenApiSchema = {
  type: 'string',
  description: 'An Atom feed (RFC 4287), which says what the JSON says.',
}

/** The lists whose array is there in JSON without a record too, where XML has no element (wire.md 1.5). */
export const arraysInJson: Readonly<Record<string, string>> = {
  ...{ Projects: 'project', ProjectSummaries: 'project', ProjectIds: 'project', Organizations: 'organization' },
}

/** The schemas of the documents that answer requests, one for both formats; `xml.name` is the root. */
export const schemas: Readonly<Record<string, OpenApiSchema>> = {
  Project: objectOf(project, { xml: { name: 'project' } }),
  ProjectSummary: objectOf(summary, { xml: { name: 'project' } }),
  ProjectId: objectOf({ id: integer }),
  Organization: objectOf(recordOf(wireFieldsOf(organisationFields), organisationValues), {
    xml: { name: 'organization' },
  }),
  Theme: objectOf({ id: text, name: text }),
  Country: objectOf({ name: text, iso3166CountryCode: text }),
  Image: objectOf({
    ...{ title: text, '@id': integer },
    imagelink: {
      ...arrayOf(objectOf({ url: text, '@size': { type: 'string', enum: [...renditions] } })),
      ...{ minItems: 6, maxItems: 6, description: 'Always six, smallest first.' },
    },
  }),

  Projects: projectPage('Project'),
  ProjectSummaries: projectPage('ProjectSummary'),
  ProjectIds: projectPage('ProjectId'),
  Organizations: objectOf(
    {
      ...{ 'hasNext?': { type: 'boolean', const: true }, 'nextOrgId?': integer },
      'organization?': arrayOf(ref('Organization')),
    },
    { xml: { name: 'organizations' } },
  ),
  Images: wrapperOf('image', ref('Image'), { xml: { name: 'images' } }),
  Search: searchAnswer('Project'),
  SearchSummary: searchAnswer('ProjectSummary'),
  Themes: wrapperOf('theme', ref('Theme'), { xml: { name: 'themes' } }),
  ThemesWithProjects: wrapperOf(
    'theme',
    objectOf({
      ...{ id: text, name: text },
      projects: objectOf({ 'project?': { ...arrayOf(ref('ProjectId')), minItems: 1 }, '@numberFound': integer }),
    }),
    { xml: { name: 'themes' } },
  ),
  Regions: wrapperOf('region', objectOf({ name: text }), { xml: { name: 'regions' } }),
  RegionCounts: wrapperOf(
    'region',
    objectOf({
      name: text,
      countries: wrapperOf('country', objectOf({ name: text, iso3166CountryCode: text, projectCount: integer })),
    }),
    { xml: { name: 'regions' } },
  ),
  Download: objectOf({ url: text }, { xml: { name: 'download' } }),
  ReportFeed: objectOf(
    {
      attributes: objectOf({ 'xml:base': text }),
      ...{ id: text, title: text, updated: instant, authors: feedAuthors, links: arrayOf(feedLink) },
      entries: arrayOf(
        objectOf({
          ...{ id: text, title: text, authors: feedAuthors, published: instant, updated: instant },
          content: { ...text, description: 'HTML that is safe to show.' },
          links: { ...arrayOf(feedLink), description: 'Pictures only (rel: enclosure).' },
        }),
      ),
    },
    { description: 'What the Atom feed says.' },
  ),
  ErrorResponse: objectOf(
    {
      error_code: {
        type: 'integer',
        description: 'The HTTP status.',
        enum: [...new Set([...Object.values(errorKinds).map((entry) => entry.status), 412, 416])].sort(),
      },
      errors: objectOf({
        error: { ...arrayOf(objectOf({ error_message: text, 'error_number?': errorNumber })), minItems: 1 },
      }),
      'requires_action?': objectOf(
        { clientSecret: text, paymentGateway: text },
        {
          description:
            'Of donationsclient, with error_number 2099: the page gives clientSecret to the client of the gateway, which asks the donor to confirm the payment; then the same request is sent again.',
        },
      ),
      status: { ...text, description: 'The reason phrase.' },
    },
    { xml: { name: 'error_response' } },
  ),

  Manifest: objectOf({
    ...{ release: text, run: integer, generated: instant, 'previous?': text, 'previousSha256?': text },
    'previousReleases?': arrayOf(objectOf({ release: text, manifest: text })),
    publisher: objectOf({ ref: text, name: text }),
    'publisherRecord?': objectOf({ hash: text, lastUpdated: instant, 'inputs?': text }),
    files: arrayOf(
      objectOf({
        ...{ path: text, immutablePath: text, mediaType: text, records: integer, bytes: integer, gzipBytes: integer },
        sha256: text,
        'contentSha256?': text,
        lastModified: instant,
        fingerprint: text,
        notices: { type: 'object' },
      }),
    ),
    projectFeeds: objectOf({ count: integer, index: text }),
    held: objectOf({
      count: integer,
      sample: arrayOf(
        objectOf({
          ...{ identifier: text, projectId: integer, stillPublished: boolean },
          notices: arrayOf(objectOf({ code: text, severity: text, path: text, detail: text })),
        }),
      ),
    }),
    totals: objectOf({
      activities: integer,
      money: { type: 'object', additionalProperties: text },
      'flows?': { type: 'object', additionalProperties: { type: 'object', additionalProperties: text } },
    }),
  }),
  Status: objectOf({
    ...{ 'release?': text, 'generated?': instant, 'activities?': integer, 'held?': integer },
    runs: arrayOf(
      objectOf({
        ...{ id: integer, trigger: text, state: text, attempt: integer, queuedAt: instant, 'startedAt?': instant },
        ...{ 'finishedAt?': instant, rendered: integer, changed: integer, held: integer, 'release?': text },
        ...{ 'reason?': text, 'error?': text },
      }),
    ),
  }),
  Readiness: objectOf({
    ...{ ready: boolean, 'stopping?': boolean, 'release?': text, 'releaseAge?': integer, 'overdue?': boolean },
    'database?': { type: 'string', enum: ['reachable', 'unreachable'] },
    'needs?': { ...arrayOf(text), description: 'What needs a person: codes of giving status.' },
  }),
}
