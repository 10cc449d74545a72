import { ServiceError } from '../../kernel/errors.js'
import {
  booleanType,
  firstProblem,
  listType,
  type MemberType,
  objectType,
  ofOthers,
  orNull,
  readObject,
  type TypeOf,
  textType,
  wholeType,
} from '../../kernel/read-object.js'
import type { AccessToken } from './access-token.js'
import type { RegistryHttp, RegistryRequest } from './registry-http.js'

const text = textType()

const publisherShape = objectType({
  id: text,
  user_role: orNull(text),
  metadata: objectType({
    human_readable_name: text,
    organisation_identifier: orNull(text),
    short_name: orNull(text),
    registry_approved: orNull(booleanType),
  }),
})

/** A reporting organisation of the registry, as this account sees it. */
export type Publisher = TypeOf<typeof publisherShape>

const fieldsShape = objectType({
  human_readable_name: text,
  short_name: text,
  source_type: text,
  url: text,
  visibility: text,
  licence_id: text,
})

export type DatasetFields = TypeOf<typeof fieldsShape>

const datasetShape = objectType({ id: text, owner_organisation_id: text, metadata: fieldsShape })

const oneDataset = objectType({ data: datasetShape })

export type RegisteredDataset = TypeOf<typeof datasetShape>

const pagination = orNull(objectType({ total_pages: wholeType(0, 1000) }))

const noData = objectType({ data: { expected: 'null', read: (value) => (value === null ? true : undefined) } })

const failureShape = objectType({ error: objectType({ error_msg: text }) })

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
    await this.#call({ method: 'POST', path: '/datasets', body }, oneDataset, signal)
  }

  async updateDataset(id: string, fields: DatasetFields, signal: AbortSignal): Promise<void> {
    await this.#call({ method: 'PATCH', path: `/datasets/${id}`, body: fields }, oneDataset, signal)
  }

  /** A dataset that is not there is deleted already. */
  async deleteDataset(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#call({ method: 'DELETE', path: `/datasets/${id}` }, noData, signal)
    } catch (error) {
      if (!(error instanceof RegistryRefusal && error.httpStatus === 404)) throw error
    }
  }

  async #list<T>(path: string, shape: MemberType<T>, signal: AbortSignal): Promise<T[]> {
    const found: T[] = []
    const answer = objectType({ data: listType(shape), pagination })
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
    shape: MemberType<T>,
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
      const { value, problems } = readObject(shape, answer.document, ofOthers)
      if (!problems) return value
      const why = firstProblem(problems)
      throw new ServiceError('registry-unusable', `${method} ${path}: the answer is not as expected: ${why}`)
    }
  }
}

function toRefusal(call: string, status: number, document: unknown): ServiceError {
  if (status < 400) {
    const message = `${call} answered with a redirect (${status}): expected REGISTRY_URL to be the API itself, up to /api/v1`
    return new ServiceError('registry-unusable', message)
  }
  const failure = readObject(failureShape, document, ofOthers).value
  const reason = failure ? `: ${failure.error.error_msg}` : ''
  return new RegistryRefusal(status, `${call} answered ${status}${reason}`)
}
