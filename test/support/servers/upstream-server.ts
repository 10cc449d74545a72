import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A project record as an upstream holds it, in the JSON of the wire format. */
export type UpstreamRecord = { readonly id: number } & Readonly<Record<string, unknown>>

/** What an upstream of a test is made of; everything may be changed while it runs. */
export type UpstreamState = {
  records: UpstreamRecord[]
  format: 'json' | 'xml'
  pageSize: number
  /** Understands `modifiedSince`: a record's `changedAt` (milliseconds, not sent) decides. */
  since: boolean
  changedAt: Map<number, number>
  /** Answers before anything else does; true when it has. */
  fault: ((request: IncomingMessage, response: ServerResponse, url: URL) => boolean) | undefined
  reports: Map<number, { type: string; body: string }>
  galleries: Map<number, unknown[]>
  organisations: UpstreamRecord[]
  download: string | undefined
}

/** A running upstream and every request it has had. */
export type TestUpstream = {
  readonly url: string
  readonly state: UpstreamState
  readonly requests: URL[]
  /** Requests whose path ends so. */
  asked(end: string): URL[]
  close(): Promise<void>
}

export const apiKey = '5a0c1d2e-0000-4000-8000-000000000001'

/** A platform of the test's own that speaks the wire format: lists by cursor, ids, reports, galleries. */
export async function startUpstream(changes: Partial<UpstreamState> = {}): Promise<TestUpstream> {
  const state: UpstreamState = {
    records: [],
    format: 'json',
    pageSize: 10,
    since: false,
    changedAt: new Map(),
    fault: undefined,
    reports: new Map(),
    galleries: new Map(),
    organisations: [],
    download: undefined,
    ...changes,
  }
  const requests: URL[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://upstream.test')
    requests.push(url)
    if (state.fault?.(request, response, url)) return
    if (url.searchParams.get('api_key') !== apiKey) return send(response, 401, state.format, { error_response: {} })
    answer(state, url, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    requests,
    asked: (end) => requests.filter((url) => url.pathname.endsWith(end)),
    close: () => closed(server),
  }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

function answer(state: UpstreamState, url: URL, response: ServerResponse): ServerResponse {
  const path = url.pathname.replace(/^\/api\/public\//, '')
  const { format } = state
  const reply = (document: object, status = 200) => send(response, status, format, document)
  if (path === 'projectservice/all/projects') return reply(page(state, url))
  if (path === 'projectservice/themes') return reply({ themes: { theme: [{ id: 'water', name: 'Clean Water' }] } })
  if (path === 'projectservice/regions') return reply({ regions: { region: [{ name: 'Africa' }] } })
  if (path === 'orgservice/all/organizations') return reply({ organizations: { organization: state.organisations } })
  if (path === 'projectservice/all/projects/download' && state.download)
    return reply({ download: { url: state.download } })
  if (path === 'projectservice/projects/collection/ids') {
    const ids = (url.searchParams.get('projectIds') ?? '').split(',').map(Number)
    const found = state.records.filter((record) => ids.includes(record.id) && record.active === true)
    return found.length > 0
      ? reply({ projects: { project: found, numberFound: found.length } })
      : reply({ error_response: { error_code: 404 } }, 404)
  }
  const [, id, part] = /^projectservice\/projects\/(\d+)\/(reports|imagegallery)$/.exec(path) ?? []
  const reports = part === 'reports' ? state.reports.get(Number(id)) : undefined
  if (reports) {
    response.writeHead(200, { 'content-type': reports.type })
    return response.end(reports.body)
  }
  const gallery = part === 'imagegallery' ? state.galleries.get(Number(id)) : undefined
  if (gallery) return reply({ images: { image: gallery } })
  return reply({ error_response: { error_code: 404 } }, 404)
}

function page(state: UpstreamState, url: URL): object {
  const from = Number(url.searchParams.get('nextProjectId') ?? 0)
  const since = state.since ? Date.parse(url.searchParams.get('modifiedSince') ?? '') : Number.NaN
  const scope = state.records
    .filter(({ id }) => Number.isNaN(since) || (state.changedAt.get(id) ?? 0) >= since)
    .sort((a, b) => a.id - b.id)
  const rest = scope.filter(({ id }) => id >= from)
  const next = rest[state.pageSize]
  return {
    projects: {
      ...(next && { hasNext: true, nextProjectId: next.id }),
      ...(rest.length > 0 && { project: rest.slice(0, state.pageSize) }),
      numberFound: scope.length,
    },
  }
}

/** Writes a document as the service's XML or JSON. */
function send(response: ServerResponse, status: number, format: 'json' | 'xml', document: object): ServerResponse {
  response.writeHead(status, { 'content-type': `application/${format}` })
  return response.end(format === 'json' ? JSON.stringify(document) : toXml(document))
}

// Written as attributes (wire.md 1.4), depending on the element.
const attributes: Readonly<Record<string, readonly string[]>> = {
  projects: ['numberFound'],
  image: ['id'],
  imagelink: ['size'],
}

export function toXml(document: object): string {
  const [[root, value] = ['empty', {}]] = Object.entries(document)
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${xmlOf(root, value)}`
}

function xmlOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => xmlOf(name, item)).join('')
  if (typeof value !== 'object' || value === null) return `<${name}>${escaped(String(value ?? ''))}</${name}>`
  const own = attributes[name] ?? []
  const entries = Object.entries(value)
  const head = entries
    .flatMap(([key, inner]) => (own.includes(key) ? ` ${key}="${escaped(String(inner))}"` : []))
    .join('')
  const body = entries.flatMap(([key, inner]) => (own.includes(key) ? [] : xmlOf(key, inner))).join('')
  return `<${name}${head}>${body}</${name}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** A valid record; changes go over it. */
export function aRecord(id: number, changes: object = {}): UpstreamRecord {
  return {
    id,
    organization: {
      id: 700 + (id % 7),
      name: `Organisation ${700 + (id % 7)}`,
      iso3166CountryCode: 'SL',
      country: 'Sierra Leone',
      totalProjects: 4,
      activeProjects: 2,
      themes: {},
      countries: {},
    },
    active: true,
    title: `Project ${id} & <more>`,
    summary: 'Four village wells.',
    themeName: 'Clean Water',
    country: 'Sierra Leone',
    iso3166CountryCode: 'SL',
    region: 'Africa',
    goal: 8000,
    funding: 100 + id,
    remaining: 7900 - id,
    numberOfDonations: 4,
    status: 'active',
    approvedDate: '2025-02-11T10:30:00-05:00',
    modifiedDate: '2025-12-24T23:30:00-05:00',
    numberOfReports: 0,
    themes: { theme: [{ id: 'water', name: 'Clean Water' }] },
    countries: { country: [{ name: 'Sierra Leone', iso3166CountryCode: 'SL' }] },
    type: 'project',
    ...changes,
  }
}

export function records(count: number, from = 1): UpstreamRecord[] {
  return Array.from({ length: count }, (_, index) => aRecord(from + index))
}
