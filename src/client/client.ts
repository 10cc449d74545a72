import type { components, paths } from './api-types.js'

type Method = 'get' | 'post'
type JsonContent<T> = { readonly content: { readonly 'application/json': T } }
type JsonOperation = { readonly responses: { readonly 200: JsonContent<unknown> } }

/** The addresses that answer with JSON to this method, as openapi.json writes them. */
export type AddressOf<M extends Method> = {
  [Address in keyof paths]: paths[Address][M] extends JsonOperation ? Address : never
}[keyof paths]

/** What an operation takes: values for the braces of its address, query parameters, body. */
export type RequestOf<Operation> = (Operation extends { readonly parameters: infer All }
  ? Pick<All, keyof All & ('path' | 'query')>
  : unknown) &
  (Operation extends { readonly requestBody: JsonContent<infer Body> }
    ? { readonly body: Body }
    : { readonly body?: never }) & { readonly signal?: AbortSignal }

/** The JSON that an operation answers with. */
export type AnswerOf<Operation> = Operation extends { readonly responses: { readonly 200: JsonContent<infer Answer> } }
  ? Answer
  : never

/** The request may be left out where nothing in it is required. */
type Arguments<Operation> =
  Record<never, never> extends RequestOf<Operation> ? [request?: RequestOf<Operation>] : [request: RequestOf<Operation>]

export type Client = {
  get<A extends AddressOf<'get'>>(
    address: A,
    ...request: Arguments<paths[A]['get']>
  ): Promise<AnswerOf<paths[A]['get']>>
  post<A extends AddressOf<'post'>>(
    address: A,
    ...request: Arguments<paths[A]['post']>
  ): Promise<AnswerOf<paths[A]['post']>>
  /** Each record of a list of projects or organisations, page after page; `limit` is the size of a page. */
  records<A extends ListAddress>(
    address: A,
    ...request: Arguments<paths[A]['get']>
  ): AsyncGenerator<RecordOf<AnswerOf<paths[A]['get']>>, void, undefined>
}

type RecordOf<Answer> = Answer extends { readonly projects: { readonly project?: readonly (infer Project)[] } }
  ? Project
  : Answer extends { readonly organizations: { readonly organization?: readonly (infer Organization)[] } }
    ? Organization
    : never

/** The addresses of lists. */
export type ListAddress = {
  [Address in AddressOf<'get'>]: [RecordOf<AnswerOf<paths[Address]['get']>>] extends [never] ? never : Address
}[AddressOf<'get'>]

export type ClientSettings = {
  /** Address of the service, such as `https://giving.example`. */
  readonly url: string
  /** The key, which is sent to operations below /api/public/ and /api/secure/. */
  readonly apiKey?: string
  /** A token of the key, which is sent to operations below /api/secure/. */
  readonly apiToken?: string
  /** The owner of the key: the client gets its tokens itself, and another one when a token has expired. */
  readonly user?: { readonly email: string; readonly password: string }
  /**
   * How often a read, or a donation with a transactionId, is sent again after 502, 503, 504 or a lost connection; 5 when absent. The
   * pause is what `Retry-After` says, else 1 s and then twice the last: 31 s in all, longer than a restart.
   */
  readonly retries?: number
  /** The function that sends requests, where it is not the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** The function that waits before a read is sent again, where it is not a timer. */
  readonly wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** An entry of an error_response. */
export type ErrorEntry = components['schemas']['ErrorResponse']['errors']['error'][number]

type ErrorResponse = components['schemas']['ErrorResponse']

/** An answer of the service that is not a success. The message has the address without its query, where key and token are. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly status: number
  /** The entries of the error_response, the most important one first; empty when something else than the API answered. */
  readonly entries: readonly ErrorEntry[]
  /** The request in the log of the service. */
  readonly requestId: string | undefined
  /** After how many seconds another try may succeed. */
  readonly retryAfter: number | undefined
  /** What the page of a donor needs to confirm a payment; the same request is sent again after that. */
  readonly requiresAction: ErrorResponse['requires_action']

  constructor(request: string, response: Response, answer: Partial<ErrorResponse>) {
    const entries = answer.errors?.error ?? []
    const messages = entries.map(({ error_message }) => error_message)
    super(`${request}: ${response.status} ${messages.join('; ') || response.statusText}`)
    const retryAfter = response.headers.get('retry-after') ?? ''
    this.status = response.status
    this.entries = entries
    this.requiresAction = answer.requires_action
    this.requestId = response.headers.get('x-request-id') ?? undefined
    this.retryAfter = /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined
  }
}

/** A read does not wait longer than this before it is sent again: the caller decides. */
const longestWaitSeconds = 60

/** What the service answers while it restarts or is busy, or a proxy in front of it. */
const passing = [502, 503, 504]

type Lists = {
  readonly projects?: { readonly project?: readonly unknown[]; readonly nextProjectId?: number }
  readonly organizations?: { readonly organization?: readonly unknown[]; readonly nextOrgId?: number }
}

type Values = Readonly<Record<string, unknown>>
type AnyRequest = {
  readonly path?: Values
  readonly query?: Values
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** A client of the API of a giving platform, for Node.js and browsers. */
export function createClient(settings: ClientSettings): Client {
  const { url, apiKey, user, retries = 5, fetch = globalThis.fetch, wait = waitFor } = settings
  let token = settings.apiToken

  async function send(method: 'GET' | 'POST', address: string, request: AnyRequest): Promise<unknown> {
    const target = new URL(url.replace(/\/+$/, '') + filledAddress(address, request.path ?? {}))
    const keys = {
      ...(/^\/api\/(?:public|secure)\//.test(address) && { api_key: apiKey }),
      ...(isSecure(address) && { api_token: token }),
    }
    for (const [name, value] of Object.entries({ ...request.query, ...keys })) {
      if (value !== undefined) target.searchParams.set(name, String(value))
    }
    const init: RequestInit = {
      method,
      headers: { accept: 'application/json', ...(method === 'POST' && { 'content-type': 'application/json' }) },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(request.signal && { signal: request.signal }),
    }
    // What else writes is never sent again: the first request may have been done.
    const most = method === 'GET' || isIdempotent(request.body) ? retries : 0
    for (let sent = 0; ; sent++) {
      try {
        const response = await fetch(target, init)
        if (response.ok) return await response.json()
        throw new AnswerError(`${method} ${address}`, response, await errorOf(response))
      } catch (error) {
        const seconds = (error instanceof AnswerError ? error.retryAfter : undefined) ?? 2 ** sent
        const passes = error instanceof AnswerError ? passing.includes(error.status) : !(error instanceof SyntaxError)
        if (sent >= most || !passes || seconds > longestWaitSeconds || request.signal?.aborted) throw error
        await wait(seconds * 1000, request.signal)
      }
    }
  }

  async function sendSecure(method: 'GET' | 'POST', address: string, request: AnyRequest): Promise<unknown> {
    const used = token
    if (used === undefined) await signIn()
    try {
      return await send(method, address, request)
    } catch (error) {
      // 401 comes before the body is read, so nothing was done.
      if (!user || used === undefined || !(error instanceof AnswerError) || error.status !== 401) throw error
      if (token === used) await signIn()
      return await send(method, address, request)
    }
  }

  async function signIn(): Promise<void> {
    if (!user || apiKey === undefined) return
    const body = { auth_request: { user, api_key: apiKey } }
    const { auth_response } = await client.post('/api/userservice/tokens', { body })
    token = auth_response.access_token
  }

  async function* recordsOf(address: string, request: AnyRequest = {}): AsyncGenerator<unknown> {
    let query = request.query
    for (;;) {
      const { projects, organizations } = (await call('GET', address, { ...request, ...(query && { query }) })) as Lists
      yield* projects?.project ?? organizations?.organization ?? []
      const { nextProjectId } = projects ?? {}
      const { nextOrgId } = organizations ?? {}
      if (nextProjectId === undefined && nextOrgId === undefined) return
      query = { ...query, ...(nextOrgId === undefined ? { nextProjectId } : { nextOrgId }) }
    }
  }

  const call = (method: 'GET' | 'POST', address: string, request: AnyRequest = {}) =>
    (isSecure(address) ? sendSecure : send)(method, address, request) as Promise<never>
  const client: Client = {
    get: (address, ...[request]) => call('GET', address, request),
    post: (address, ...[request]) => call('POST', address, request),
    records: (address, ...[request]) => recordsOf(address, request as AnyRequest | undefined) as AsyncGenerator<never>,
  }
  return client
}

/** Whether the service does the request once, however often it comes (wire.md 6.2). */
function isIdempotent(body: unknown): boolean {
  const { donation } = (body ?? {}) as { readonly donation?: { readonly transactionId?: unknown } }
  return donation?.transactionId !== undefined && donation.transactionId !== ''
}

function isSecure(address: string): boolean {
  return address.startsWith('/api/secure/')
}

/** The address with these values in place of its braces. */
function filledAddress(address: string, values: Values): string {
  return address.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    const value = String(values[name] ?? '')
    // A URL resolves dots as a step to another address.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name}: expected a value for ${address}, got "${value}"`)
    return encodeURIComponent(value)
  })
}

async function errorOf(response: Response): Promise<Partial<ErrorResponse>> {
  // A proxy may answer with a page of its own.
  const answer = await response.json().catch(() => undefined)
  return (
    (answer as components['responses']['BadRequest']['content']['application/json'] | undefined)?.error_response ?? {}
  )
}

function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason)
      },
      { once: true },
    )
  })
}
