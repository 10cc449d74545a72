import { z } from 'zod'
import { ServiceError } from '../../kernel/errors.js'
import type { AccessToken } from './access-token.js'
import type { RegistryHttp, RegistryRequest } from './registry-http.js'

const publisherShape = z.object({
  id: z.string(),
  user_role: z.string().nullish(),
  metadata: z.object({
    human_readable_name: z.string(),
    organisation_identifier: z.string().nullish(),
    short_name: z.string().nullish(),
    registry_approved: z.boolean().nullish(),
  }),
})

/** A reporting organisation of the registry, as this account sees it. */
export type Publisher = z.infer<typeof publisherShape>

const fieldsShape = z.object({
  human_readable_name: z.string(),
  short_name: z.string(),
  source_type: z.string(),
  url: z.string(),
  visibility: z.string(),
  licence_id: z.string(),
})

export type DatasetFields = z.infer<typeof fieldsShape>

const datasetShape = z.object({ id: z.string(), owner_organisation_id: z.string(), metadata: fieldsShape })

export type RegisteredDataset = z.infer<typeof datasetShape>

const pagesShape = z.object({ pagination: z.object({ total_pages: z.number().int().max(1000) }).nullish() })

const failureShape = z.object({ error: z.object({ error_msg: z.string() }) })

/** One call of the API, as `--dry-run` shows it. */
export type RegistryCall = {
  readonly method: RegistryRequest['method']
  readonly path: string
  readonly body?: object
  /** False: only shown, not sent. */
  readonly sent: boolean
}

/** An answer that refuses a call. */
export class RegistryRefusal extends ServiceError {
  readonly httpStatus: number

  constructor(httpStatus: number, message: string) {
    super(httpStatus === 409 ? 'registry-conflict' : 'registry-refused', message)
    this.httpStatus = httpStatus
  }
}

const pageSize = 500

/**
 * The API of the IATI registry ("Register Your Data", version 1). With `dryRun` it reads but writes nothing. A refused token
 * is renewed once. Throws `registry-refused`, `registry-conflict`, `registry-unusable` or `registry-unavailable`.
 */
export class RegistryClient {
  readonly calls: RegistryCall[] = []
  readonly #http: RegistryHttp
  readonly #url: string
  readonly #token: AccessToken
  readonly #dryRun: boolean

  constructor(given: { http: RegistryHttp; url: string; token: AccessToken; dryRun?: boolean }) {
    this.#http = given.http
    this.#url = given.url
    this.#token = given.token
    this.#dryRun = given.dryRun ?? false
  }

  /** The organisations that this account may do something for. */
  listPublishers(signal: AbortSignal): Promise<Publisher[]> {
    return this.#list('/reporting-orgs', publisherShape, signal)
  }

  listDatasets(publisherId: string, signal: AbortSignal): Promise<RegisteredDataset[]> {
    return this.#list(`/reporting-orgs/${publisherId}/datasets`, datasetShape, signal)
  }

  async createDataset(publisherId: string, fields: DatasetFields, signal: AbortSignal): Promise<void> {
    const body = { ...fields, owner_organisation_id: publisherId }
    await this.#call({ method: 'POST', path: '/datasets', body }, z.object({ data: datasetShape }), signal)
  }

  async updateDataset(id: string, fields: DatasetFields, signal: AbortSignal): Promise<void> {
    await this.#call(
      { method: 'PATCH', path: `/datasets/${id}`, body: fields },
      z.object({ data: datasetShape }),
      signal,
    )
  }

  /** A dataset that is not there is deleted already. */
  async deleteDataset(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#call({ method: 'DELETE', path: `/datasets/${id}` }, z.object({ data: z.null() }), signal)
    } catch (error) {
      if (!(error instanceof RegistryRefusal && error.httpStatus === 404)) throw error
    }
  }

  async #list<T>(path: string, shape: z.ZodType<T>, signal: AbortSignal): Promise<T[]> {
    const found: T[] = []
    const answer = pagesShape.extend({ data: z.array(shape) })
    for (let page = 1; ; page++) {
      const read = await this.#call(
        { method: 'GET', path: `${path}?page=${page}&page_size=${pageSize}` },
        answer,
        signal,
      )
      found.push(...(read?.data ?? []))
      if (page >= (read?.pagination?.total_pages ?? 1)) return found
    }
  }

  /** The answer in this shape; undefined when the call was only shown. */
  async #call<T>(
    { method, path, body }: Omit<RegistryCall, 'sent'>,
    shape: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const sent = method === 'GET' || !this.#dryRun
    this.calls.push({ method, path, ...(body && { body }), sent })
    if (!sent) return undefined
    for (let renew = false; ; renew = true) {
      const token = await this.#token(renew, signal)
      const answer = await this.#http.send(
        {
          ...{ method, url: `${this.#url}${path}` },
          headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { body: JSON.stringify(body) }),
        },
        signal,
      )
      if (answer.status === 401 && !renew) continue
      if (answer.status >= 300) throw toRefusal(`${method} ${path}`, answer.status, answer.document)
      const read = shape.safeParse(answer.document)
      if (read.success) return read.data
      const [issue] = read.error.issues
      const place = issue ? `${issue.path.join('.')}: ${issue.message}` : ''
      throw new ServiceError('registry-unusable', `${method} ${path}: the answer is not as expected: ${place}`)
    }
  }
}

function toRefusal(call: string, status: number, document: unknown): ServiceError {
  if (status < 400) {
    const message = `${call} answered with a redirect (${status}): expected REGISTRY_URL to be the API itself, up to /api/v1`
    return new ServiceError('registry-unusable', message)
  }
  const said = failureShape.safeParse(document)
  const reason = said.success ? `: ${said.data.error.error_msg}` : ''
  return new RegistryRefusal(status, `${call} answered ${status}${reason}`)
}
