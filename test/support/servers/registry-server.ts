import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { DatasetFields } from '../../../src/extensions/registry/registry-client.js'
import {
  inText,
  type MemberType,
  objectType,
  ofOthers,
  orNull,
  readObject,
  textType,
} from '../../../src/kernel/read-object.js'
import { textLike, wordOf } from '../../../src/kernel/values.js'

/** What goes wrong with one request: an answer in place of the right one, or none; `after`: the work was done before. */
export type RegistryFault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'silence' | 'reset' | 'cut' | 'html'; readonly after: boolean }

export type RegistryRole = 'admin' | 'editor' | 'contributor' | 'contributor_pending'

type Organisation = { readonly id: string; readonly metadata: Record<string, unknown>; role: RegistryRole | undefined }
type StoredDataset = { readonly id: string; readonly owner: string; fields: DatasetFields }
type Reply = { readonly status: number; readonly document: object; readonly headers?: Record<string, string> }

export const registryClient = { clientId: 'our-client', clientSecret: 'a-secret/with+signs:%' }

/**
 * A server that follows the write API of the IATI registry ("Register Your Data", version 1) and the token service before
 * it: paths, scopes, rules, statuses and the form of answers are those of its public code.
 */
export class RegistryServer implements AsyncDisposable {
  url = ''
  tokenUrl = ''
  readonly organisations: Organisation[] = []
  readonly datasets: StoredDataset[] = []
  /** Requests in the order in which they came, such as `POST /datasets`. */
  readonly requests: string[] = []
  /** Decides, by the number of a request (from 1), what goes wrong with it. */
  fault: ((number: number, request: string) => RegistryFault | undefined) | undefined
  pageSize: number | undefined
  tokenSeconds = 3600
  readonly #tokens = new Map<string, readonly string[]>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    this.url = `${origin}/api/v1`
    this.tokenUrl = `${origin}/oauth2/token`
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Adds an organisation, for whose datasets the account has this role. */
  addOrganisation(identifier: string, shortName: string | null, role?: RegistryRole): Organisation {
    const organisation: Organisation = {
      id: randomUUID(),
      role,
      metadata: {
        ...{ short_name: shortName, human_readable_name: `Organisation ${identifier}` },
        ...{ organisation_identifier: identifier, organisation_type: '21', hq_country: 'US', registry_approved: true },
      },
    }
    this.organisations.push(organisation)
    return organisation
  }

  addDataset(owner: Organisation, fields: Partial<DatasetFields>): StoredDataset {
    const given = { human_readable_name: 'By hand', short_name: 'by-hand', source_type: 'primary_source' }
    const rest = { url: 'https://example.org/a.xml', visibility: 'public', licence_id: 'cc-by' }
    const dataset = { id: randomUUID(), owner: owner.id, fields: { ...given, ...rest, ...fields } }
    this.datasets.push(dataset)
    return dataset
  }

  /** A valid token with these scopes. */
  issueToken(
    scopes: readonly string[] = ['ryd', 'ryd:reporting_org', 'ryd:dataset', 'ryd:dataset:update', 'ryd:dataset:delete'],
  ): string {
    const token = randomUUID()
    this.#tokens.set(token, scopes)
    return token
  }

  endTokens(): void {
    this.#tokens.clear()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    const body = await text(request).catch(() => '')
    const name = `${request.method} ${url.pathname.replace('/api/v1', '')}`
    this.requests.push(name)
    const fault = this.fault?.(this.requests.length, name)
    if (fault?.kind === 'status') {
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
      return send(response, { ...failed(fault.status, 'as the test wants it'), headers })
    }
    if (fault && !fault.after) return misanswer(response, fault.kind, '{}')
    const reply = url.pathname === '/oauth2/token' ? this.#grant(request, body) : this.#answer(request, url, body)
    if (fault) misanswer(response, fault.kind, JSON.stringify(reply.document))
    else send(response, reply)
  }

  #grant(request: IncomingMessage, body: string): Reply {
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
    if (id !== registryClient.clientId || secret !== registryClient.clientSecret) {
      return { status: 401, document: { error: 'invalid_client' } }
    }
    const form = new URLSearchParams(body)
    if (request.method !== 'POST' || form.get('grant_type') !== 'client_credentials') {
      return { status: 400, document: { error: 'unsupported_grant_type' } }
    }
    const access_token = this.issueToken((form.get('scope') ?? '').split(' '))
    return { status: 200, document: { access_token, token_type: 'Bearer', expires_in: this.tokenSeconds } }
  }

  #answer(request: IncomingMessage, url: URL, body: string): Reply {
    const { pathname, searchParams } = url
    if (pathname.endsWith('/')) {
      return { status: 307, document: {}, headers: { location: url.href.replace(/\/(?=\?|$)/, '') } }
    }
    const place = `${request.method} ${pathname.replace('/api/v1', '')}`
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const scopes = this.#tokens.get(token)
    if (!scopes) return failed(401, 'There is a problem with your credentials.')
    const needs = (...wanted: string[]) => (wanted.every((one) => scopes.includes(one)) ? undefined : noRight)
    if (place === 'GET /reporting-orgs') {
      const own = this.organisations.filter(({ role }) => role)
      return needs('ryd', 'ryd:reporting_org') ?? this.#page(own.map(toPublisher), searchParams)
    }
    const [, ownerId] = /^GET \/reporting-orgs\/([\w-]+)\/datasets$/.exec(place) ?? []
    if (ownerId !== undefined) {
      const role = this.#roleFor(ownerId)
      if (!role) return failed(404, `There is no organisation with ID ${ownerId} in the Registry.`)
      if (role === 'none' || role === 'contributor_pending') return noRight
      const own = this.datasets.filter(({ owner }) => owner === ownerId)
      return needs('ryd', 'ryd:dataset') ?? this.#page(own.map(toReadModel), searchParams)
    }
    if (place === 'POST /datasets') return needs('ryd', 'ryd:dataset') ?? this.#create(body)
    const [, method, id = ''] = /^(GET|PATCH|DELETE) \/datasets\/([\w-]+)$/.exec(place) ?? []
    const dataset = this.datasets.find((one) => one.id === id)
    if (method && !dataset) return failed(404, `There is no dataset with ID ${id} in the Registry.`)
    if (method === 'GET' && dataset) return { status: 200, document: success(toReadModel(dataset)) }
    if (method === 'PATCH' && dataset)
      return needs('ryd', 'ryd:dataset', 'ryd:dataset:update') ?? this.#update(dataset, body)
    if (method === 'DELETE' && dataset) return needs('ryd', 'ryd:dataset:delete') ?? this.#delete(dataset)
    return failed(404, 'Not Found')
  }

  #create(body: string): Reply {
    const read = readBody(createShape, body)
    if ('refused' in read) return read.refused
    const { owner_organisation_id: owner, ...fields } = read.value
    const role = this.#roleFor(owner)
    if (!role) return failed(404, `There is no organisation with ID ${owner} in the Registry.`)
    if (role === 'none' || role === 'contributor_pending') return noRight
    if (role === 'contributor' && fields.visibility === 'public') return noRight
    if (this.#isTaken(fields.short_name)) {
      const message = `Unable to create dataset as there is already a dataset with short_name '${fields.short_name}' in the Registry.`
      return failed(409, message)
    }
    const dataset = { id: randomUUID(), owner, fields }
    this.datasets.push(dataset)
    return { status: 201, document: success(toReadModel(dataset)) }
  }

  #update(dataset: StoredDataset, body: string): Reply {
    const read = readBody(updateShape, body)
    if ('refused' in read) return read.refused
    const { visibility, ...fields } = read.value
    const role = this.#roleFor(dataset.owner)
    const shows = visibility ?? dataset.fields.visibility
    if (role !== 'admin' && role !== 'editor' && (role !== 'contributor' || shows !== dataset.fields.visibility)) {
      return noRight
    }
    if (fields.short_name !== dataset.fields.short_name && this.#isTaken(fields.short_name)) {
      return failed(409, 'Error: unable to update dataset as there is already a dataset with short_name')
    }
    dataset.fields = { ...fields, visibility: shows }
    return { status: 200, document: success(toReadModel(dataset)) }
  }

  #delete(dataset: StoredDataset): Reply {
    const role = this.#roleFor(dataset.owner)
    if (role !== 'admin' && role !== 'editor') return noRight
    this.datasets.splice(this.datasets.indexOf(dataset), 1)
    return { status: 200, document: success(null) }
  }

  #roleFor(id: string): RegistryRole | 'none' | undefined {
    const organisation = this.organisations.find((one) => one.id === id)
    return organisation && (organisation.role ?? 'none')
  }

  #isTaken(shortName: string): boolean {
    return this.datasets.some(({ fields }) => fields.short_name === shortName)
  }

  #page(all: readonly object[], params: URLSearchParams): Reply {
    const [page, asked] = [Number(params.get('page') ?? 1), Number(params.get('page_size') ?? 100)]
    if (!(page >= 1) || !(asked >= 1 && asked <= 500)) return failed(400, "Data validation error: Field 'page_size'")
    const size = this.pageSize ?? asked
    const total_pages = Math.max(1, Math.ceil(all.length / size))
    const pagination = { page, page_size: size, total_pages, total_records: all.length, links: {} }
    return { status: 200, document: { ...success(all.slice((page - 1) * size, page * size)), pagination } }
  }
}

const visibility = inText(wordOf('public', 'private'))
const updated = {
  ...{ human_readable_name: textType(), licence_id: textType(), url: textType() },
  short_name: inText(textLike(/^[a-z0-9-_]+$/, 'a short name')),
  source_type: inText(wordOf('primary_source', 'secondary_source')),
}
const updateShape = objectType({ ...updated, visibility: orNull(visibility) })
const createShape = objectType({
  ...updated,
  owner_organisation_id: inText(textLike(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, 'a UUID')),
  visibility,
})

function readBody<T>(shape: MemberType<T>, body: string): { value: T } | { refused: Reply } {
  const { value, problems } = readObject(shape, JSON.parse(body), ofOthers)
  if (!problems) return { value }
  const fields = problems.map(({ field, expected }) => `Field '${field}': expected ${expected}.`)
  return { refused: failed(400, `Data validation error: ${fields.join(' ')}`) }
}

const toPublisher = ({ id, metadata, role }: Organisation) => ({ id, metadata, user_role: role, actions: [] })

const toReadModel = ({ id, owner, fields }: StoredDataset) => ({
  ...{ id, owner_organisation_id: owner, actions: [] },
  metadata: { ...fields, last_url_update_date: '', last_metadata_update_date: '' },
})

const success = (data: unknown) => ({ status: 'success', data, error: null })

function failed(status: number, error_msg: string): Reply {
  return { status, document: { status: 'failed', data: null, error: { status_code: status, error_msg } } }
}

const noRight = failed(403, 'There is a problem with your credentials.')

function send(response: ServerResponse, { status, document, headers }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
}

function misanswer(response: ServerResponse, kind: 'silence' | 'reset' | 'cut' | 'html', body: string): void {
  if (kind === 'reset') response.destroy()
  if (kind === 'cut') response.writeHead(200).end(body.slice(0, body.length / 2))
  if (kind === 'html') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Soon back')
}
