import { tmpdir } from 'node:os'
import pino from 'pino'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { ofExtensions } from '../../../src/extensions.js'
import { createApi } from '../../../src/http/api/create-api.js'
import { openStore } from '../../../src/platform/database/store.js'
import { createMetrics } from '../../../src/platform/observability/metrics.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { readProjectFile } from '../documents/markdown-table.js'
import { gatewayWithWebhooks, testPayments } from '../money/donations.js'
import { testConfig } from './api-config.js'
import { pythonClient, pythonClientFile } from './python-client.js'

type Json = Readonly<Record<string, unknown>>

export type DescribedOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Json[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, Json>>
}
export type MediaType = { readonly schema: Json; readonly example?: unknown }
export type Description = {
  readonly openapi: string
  readonly info: Json
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

/** Name of the committed description, in the root of the project. */
export const descriptionFile = 'openapi.json'

const demoUrl = 'http://127.0.0.1:8080'

/** The committed description. */
export function committedDescription(): Description {
  return JSON.parse(readProjectFile(descriptionFile)) as Description
}

/** What the routes describe now, for any server. Nothing is connected to: the database of this API does not exist. */
export async function currentDescription(): Promise<Description> {
  await using store = openStore({ url: 'postgres://127.0.0.1:1/none', max: 1, applicationName: 'giving description' })
  const clock = () => new Date()
  const app = await createApi(ofExtensions('addRoutes'), {
    ...{
      store,
      reads: store,
      replicas: undefined,
      searches: store,
      clock,
      log: pino({ level: 'silent' }),
      config: testConfig,
    },
    payments: testPayments(store, { gateway: gatewayWithWebhooks(store, clock) }),
    releases: createReleaseReader(tmpdir()),
    feedsDir: tmpdir(),
    listRuns: async () => [],
    nextRun: async () => undefined,
    metrics: createMetrics({
      shared: () => Promise.reject(new Error('none')),
      live: async () => undefined,
      onError: () => {},
    }),
    passwords: createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 }),
    stopping: new AbortController().signal,
  })
  try {
    const served = (await app.inject('/api/openapi.json')).json() as Description
    return {
      ...served,
      info: { ...served.info, title: 'API of a giving platform', contact: { name: 'a giving platform', url: demoUrl } },
      servers: [{ url: demoUrl }],
    } as Description
  } finally {
    await app.close()
  }
}

/** The committed files that follow from the description: contents by path. */
export function filesOf(description: Description): Readonly<Record<string, string>> {
  return {
    [descriptionFile]: `${JSON.stringify(description, null, 1)}\n`,
    'docs/reference/api.md': withOperations(readProjectFile('docs/reference/api.md'), description),
    'docs/reference/donations.md': withDonationFields(readProjectFile('docs/reference/donations.md'), description),
    [pythonClientFile]: pythonClient(description),
  }
}

/** All operations with their method and path. */
export function operationsOf(description: Description) {
  return Object.entries(description.paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path: address, operation })),
  )
}

const isRow = (line: string) => /^\| (?:GET|POST) \|/.test(line)

/** docs/reference/api.md with the table of operations in place of the one that it has. */
function withOperations(document: string, description: Description): string {
  const rows = operationsOf(description).map(
    ({ method, path: address, operation }) => `| ${method} | \`${address}\` | ${operation.summary} |`,
  )
  const lines = document.split('\n')
  const start = lines.findIndex(isRow)
  return lines
    .filter((line) => !isRow(line))
    .toSpliced(start, 0, ...rows)
    .join('\n')
}

/** An answer of the description. */
export type DescribedResponse = {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content?: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>> }>>
}

/** What of the description was asked for and answered, as `GET /a/{b} 200 application/json`. */
export function expectedTraffic(description: Description): string[] {
  return operationsOf(description).flatMap(({ method, path: address, operation }) =>
    Object.entries(operation.responses).flatMap(([status, response]) => {
      const name = `${method} ${address} ${status}`
      const types = Object.keys(responseOf(description, response).content ?? {})
      return types.length === 0 ? [name] : types.map((type) => `${name} ${type}`)
    }),
  )
}

/** The answer, from its place among the components where it is a reference. */
export function responseOf(description: Description, response: Readonly<Record<string, unknown>>): DescribedResponse {
  const name = typeof response.$ref === 'string' ? (response.$ref.split('/').at(-1) ?? '') : undefined
  return (name === undefined ? response : description.components.responses?.[name]) as DescribedResponse
}

const isField = (line: string) => line.startsWith('| `donation.')

/** docs/reference/donations.md with the table of the fields in place of the one that it has. */
function withDonationFields(document: string, description: Description): string {
  const fieldsOf = (operation: string) => {
    const body = description.paths[`/api/secure/givingservice/${operation}`]?.post?.requestBody
    return fieldsIn(body?.content['application/xml']?.schema ?? {}, 'donation')
  }
  const versions = [fieldsOf('donations'), fieldsOf('donationsclient')] as const
  const names = [...new Set(versions.flatMap((fields) => [...fields.keys()]))]
  const rows = names.map((name) => {
    const required = versions.map((fields) => fields.get(name)?.required ?? '–')
    const { length = '', meaning = '' } = versions[1].get(name) ?? versions[0].get(name) ?? {}
    return `| \`${name}\` | ${required.join(' | ')} | ${length} | ${meaning} |`
  })
  const lines = document.split('\n')
  const start = lines.findIndex(isField)
  return lines
    .filter((line) => !isField(line))
    .toSpliced(start, 0, ...rows)
    .join('\n')
}

type Field = { readonly required: string; readonly length: string; readonly meaning: string }

function fieldsIn(schema: Json, at: string): Map<string, Field> {
  const required = (schema.required ?? []) as readonly string[]
  return new Map(
    Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>).flatMap(
      ([name, own]): [string, Field][] => {
        if (own.properties !== undefined && own.deprecated !== true) return [...fieldsIn(own, `${at}.${name}`)]
        const field = {
          required: required.includes(name) ? 'required' : 'optional',
          length: String(own.maxLength ?? ''),
          meaning: String(own.description ?? ''),
        }
        return [[`${at}.${name}`, field]]
      },
    ),
  )
}
