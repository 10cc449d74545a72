import type { OpenApiSchema } from './openapi-schema.js'

type Parameter = {
  readonly description: string
  readonly schema: OpenApiSchema
  readonly required?: true
  readonly example?: string | number
}

const cursor: OpenApiSchema = { type: 'integer', minimum: 0, default: 0 }

/** Query parameters beside key and token, which are the security of an operation; `query.ts` parses them. */
export const queryParameters = {
  nextProjectId: {
    description: 'Identifier of the first project of the page: an inclusive lower bound.',
    schema: cursor,
  },
  nextOrgId: {
    description: 'Identifier of the first organisation of the page: an inclusive lower bound.',
    schema: cursor,
  },
  limit: {
    description: 'Records of the page; a number above 100 counts as 100.',
    schema: { type: 'integer', minimum: 1, default: 10 },
  },
  modifiedSince: {
    description: 'Only records that changed at this instant (RFC 3339) or later.',
    schema: { type: 'string', format: 'date-time' },
  },
  projectIds: {
    description: 'Project identifiers separated by commas; from the eleventh on they are ignored.',
    schema: { type: 'string', pattern: '^[\\s,]*\\d+(\\s*,\\s*\\d*)*\\s*$' },
    required: true,
    example: '2061,2045',
  },
  q: {
    description: 'Words to search for ("a phrase", or, -not), at most 32; * for everything.',
    schema: { type: 'string', minLength: 1, maxLength: 500 },
    required: true,
    example: 'well',
  },
  start: { description: 'Number of the first hit, from 0.', schema: cursor },
  filter: {
    description: 'Pairs of theme or country and a value, separated by commas, such as theme:edu,country:IN.',
    schema: { type: 'string' },
  },
  theme: { description: 'Only organisations that work on this theme.', schema: { type: 'string' } },
  country: {
    description: 'Only organisations that work in this country (two letters).',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  },
  is_test: {
    description: 'true or 1: everything is checked, and nothing is stored or charged.',
    schema: { type: 'string', enum: ['true', 'false', '1', '0'], default: 'false' },
  },
  release: {
    description: 'A kept release in place of the live one, as X-Release names it.',
    schema: { type: 'string', pattern: '^\\d{8}T\\d{6}Z-\\d+$' },
  },
} as const satisfies Readonly<Record<string, Parameter>>

export type QueryParameter = keyof typeof queryParameters

const identifier: OpenApiSchema = { type: 'integer', minimum: 0 }

/** Path parameters of operations; the examples lead to records of the example answers. */
export const pathParameters: Readonly<Record<string, Parameter>> = {
  projectId: { description: 'Identifier of a project.', schema: identifier, example: 2045 },
  organizationId: { description: 'Identifier of an organisation.', schema: identifier, example: 318 },
  bridgeId: {
    description: 'Identifier of an organisation in an external register.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '9007199254740993',
  },
  themeId: { description: 'Identifier of a theme.', schema: { type: 'string' }, example: 'water' },
  iso3166CountryCode: {
    description: 'Two letters (ISO 3166-1), in any letter case.',
    schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
    example: 'SL',
  },
  region: {
    description: 'Name of a region; a slash in it need not be encoded.',
    schema: { type: 'string' },
    example: 'Africa',
  },
  identifier: { description: 'An IATI identifier.', schema: { type: 'string' }, example: 'US-EIN-123456789-2045' },
  path: {
    description: 'Address of a file of the release; it may have slashes.',
    schema: { type: 'string' },
    example: 'activities.xml',
  },
  release: { description: 'Identifier of a release.', schema: { type: 'string' }, example: '20261121T020000Z-2' },
  token: { description: 'What makes the address impossible to guess.', schema: { type: 'string' }, example: '0a1b' },
  file: { description: 'Name of the file.', schema: { type: 'string' }, example: 'projects.xml' },
  gateway: { description: 'The chosen gateway: braintree or stripe.', schema: { type: 'string' }, example: 'stripe' },
  owner: { description: 'Identifier of a demo project, or org.', schema: { type: 'string' }, example: '1' },
  id: { description: 'Identifier of a demo project.', schema: identifier, example: 1 },
}
