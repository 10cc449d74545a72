import { type DescribedOperation, type Description, operationsOf, responseOf } from './api-description.js'

/** Where the collection is. */
export const brunoFolder = 'docs/bruno'

/** Values of the environment `demo`: the service that `giving start` starts, and records of its demo data. */
const demo = {
  baseUrl: 'http://127.0.0.1:8080',
  email: 'me@example.org',
  password: 'seven quiet rivers',
  projectId: '9000001',
  projectIds: '9000001,9000002',
  organizationId: '9000001',
  bridgeId: '10009000002',
  themeId: 'water',
  iso3166CountryCode: 'SL',
  region: 'Africa',
}

/** What a request learns from its answer for the requests after it, which therefore come later in the collection. */
const learnt: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createAccount: {},
  createKey: { api_key: 'res.body.key_response.api_key' },
  createToken: { api_token: 'res.body.auth_response.access_token' },
  linkProjects: { token: "res.body.download.url.split('/').at(-2)" },
  getActivityIndex: { identifier: 'res.body.files[0].activities[0].identifier' },
  getManifest: { release: 'res.body.release' },
}
const variables = new Set([...Object.keys(demo), ...Object.values(learnt).flatMap((names) => Object.keys(names))])

// Operations that need mail, a grant, a signature, a processor or many records, or that end a key, are for people.
const notInDemo = new Set([
  ...['verifyAccount', 'changePassword', 'requestPasswordReset', 'resetPassword', 'revokeKey', 'revokeToken'],
  ...['rehearseDonation', 'donate', 'createClientToken', 'receiveWebhook', 'getPublicKey', 'getMetrics'],
  ...['getChecked', 'getIatiFile', 'getWitness'],
])

type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly example?: unknown
}
type Request = { readonly method: string; readonly path: string; readonly operation: DescribedOperation }

/** A collection for Bruno with a request for each operation: contents by path. */
export function brunoCollection(description: Description): Readonly<Record<string, string>> {
  const requests = operationsOf(description)
  const tags = [...new Set(['Accounts', ...requests.map(({ operation }) => operation.tags[0] ?? '')])]
  const files = tags.flatMap((tag, index): [string, string][] => {
    const own = requests.filter(({ operation }) => operation.tags[0] === tag).sort(byWhatIsLearnt)
    return [
      [`${tag}/folder.bru`, block('meta', [`name: ${tag}`, `seq: ${index + 1}`])],
      ...own.map((request, place): [string, string] => [
        `${tag}/${request.operation.operationId}.bru`,
        requestFile(description, request, place + 1),
      ]),
    ]
  })
  const collection = { version: '1', name: String(description.info.title), type: 'collection' }
  const contents: readonly (readonly [string, string])[] = [
    ['bruno.json', `${JSON.stringify(collection, null, 2)}\n`],
    ['environments/demo.bru', block('vars', pairs(demo))],
    ...files,
  ]
  return Object.fromEntries(contents.map(([name, text]) => [`${brunoFolder}/${name}`, text]))
}

const order = Object.keys(learnt)

function byWhatIsLearnt(one: Request, other: Request): number {
  const placeOf = ({ operation }: Request) => {
    const place = order.indexOf(operation.operationId)
    return place < 0 ? order.length : place
  }
  return placeOf(one) - placeOf(other)
}

function requestFile(description: Description, { method, path, operation }: Request, seq: number): string {
  const { operationId, summary } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => parameterOf(description, parameter))
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    exampleOf(parameters.find((one) => one.name === name) ?? { name, in: 'path' }),
  )
  const inQuery = parameters.filter((one) => one.in === 'query')
  const keys = Object.keys(operation.security[0] ?? {}).map((name): [string, string] => [name, `{{${name}}}`])
  const sent = [...inQuery.filter(({ required }) => required).map(pairOf), ...keys]
  const left = inQuery.filter(({ required }) => !required).map(pairOf)
  const query = sent.length === 0 ? '' : `?${sent.map(([name, value]) => `${name}=${value}`).join('&')}`
  const json = operation.requestBody?.content['application/json']
  const answer = responseOf(description, operation.responses[200] ?? {}).content?.['application/json']
  const root = answer?.schema.required as readonly string[] | undefined
  const blocks = [
    block('meta', [
      ...[`name: ${summary}`, 'type: http', `seq: ${seq}`],
      ...(notInDemo.has(operationId) ? [] : ['tags: [', '  demo', ']']),
    ]),
    block(method.toLowerCase(), [
      `url: {{baseUrl}}${address}${query}`,
      `body: ${json?.example === undefined ? 'none' : 'json'}`,
      'auth: none',
    ]),
    block('params:query', [...sent.map(line), ...left.map((pair) => `~${line(pair)}`)]),
    block('headers', answer ? ['Accept: application/json'] : []),
    block('body:json', json?.example === undefined ? [] : bodyOf(json.example)),
    block('vars:post-response', pairs(learnt[operationId] ?? {})),
    block('assert', ['res.status: eq 200', ...(root?.length === 1 ? [`res.body.${root[0]}: isDefined`] : [])]),
  ]
  return blocks.filter((text) => text !== '').join('\n')
}

function parameterOf(description: Description, parameter: Readonly<Record<string, unknown>>): Parameter {
  const name = typeof parameter.$ref === 'string' ? (parameter.$ref.split('/').at(-1) ?? '') : undefined
  return (name === undefined ? parameter : description.components.parameters?.[name]) as Parameter
}

const exampleOf = ({ name, example = '' }: Parameter) => (variables.has(name) ? `{{${name}}}` : String(example))
const pairOf = (parameter: Parameter): [string, string] => [parameter.name, exampleOf(parameter)]
const line = ([name, value]: readonly [string, string]) => `${name}: ${value}`
const pairs = (values: Readonly<Record<string, string>>) => Object.entries(values).map(line)

function block(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${name} {\n${lines.map((text) => `  ${text}\n`).join('')}}\n`
}

/** The example of a body with variables where the demo has its own values. */
function bodyOf(example: unknown): string[] {
  return JSON.stringify(example, null, 2)
    .replaceAll(`"${demo.email}"`, '"{{email}}"')
    .replaceAll(`"${demo.password}"`, '"{{password}}"')
    .replaceAll(/"api_key": "[^"]*"/g, '"api_key": "{{api_key}}"')
    .replaceAll(/"access_token": "[^"]*"/g, '"access_token": "{{api_token}}"')
    .replaceAll(/("project": \{\s*"id": )\d+/g, '$1{{projectId}}')
    .split('\n')
}
