import { once } from 'node:events'
import { readdir, truncate, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import Stripe from 'stripe'
import { beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../../../../src/platform/observability/metrics.js'
import { createReleaseReader } from '../../../../src/release/read/release-reader.js'
import { listen, proxyHeaders, type TestApi, testApi, testConfig, testUser } from '../../../support/api/api.js'
import { committedDescription, type DescribedOperation, operationsOf } from '../../../support/api/api-description.js'
import { readProjectFile } from '../../../support/documents/markdown-table.js'
import { gatewayWithWebhooks, testPayments, webhookSecret } from '../../../support/money/donations.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { layRelease } from '../../../support/release/release.js'
import { newSigner } from '../../../support/release/signer.js'
import { someOf } from '../../../support/runner/some-of.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const description = committedDescription()
const mediaTypes = { xml: 'application/xml', json: 'application/json' } as const
const formats = ['xml', 'json'] as const
type Format = (typeof formats)[number]

/** A request of an operation, made of the examples in the description. */
type Asked = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly operation: DescribedOperation
  readonly payload: Readonly<Record<Format, string>> | undefined
}

// Where the example in the description leads to another operation.
const ownAddresses: Readonly<Record<string, string>> = {
  getIatiFile: '/iati/activities-2.xml',
  // Without its suffix, which would decide on the format of errors.
  getOpenApi: '/api/openapi',
  getOpenApiOfJson: '/api/openapi-json',
}

function parametersOf(id: string) {
  const operation = operationsOf(description).find((one) => one.operation.operationId === id)?.operation
  return (operation?.parameters ?? []).map((one) =>
    typeof one.$ref === 'string' ? (description.components.parameters?.[one.$ref.split('/').at(-1) ?? ''] ?? {}) : one,
  )
}

const written = JSON.parse(readProjectFile('src/http/api/examples/answers.json')) as Readonly<
  Record<string, { readonly xml: string } | undefined>
>

const asked: readonly Asked[] = operationsOf(description).map(({ method, path: address, operation }) => {
  const parameters = parametersOf(operation.operationId)
  const value = (name: string) => encodeURIComponent(String(parameters.find((one) => one.name === name)?.example))
  const query = parameters.filter(({ in: place, required }) => place === 'query' && required === true)
  const url = ownAddresses[operation.operationId] ?? address.replaceAll(/\{(\w+)\}/g, (_, name: string) => value(name))
  const { content } = operation.requestBody ?? {}
  return {
    method: method as 'GET' | 'POST',
    url: `${url}?${query.map(({ name }) => `${name}=${value(String(name))}`).join('&')}`,
    operation,
    payload: content && {
      // In the description it is a value.
      xml: String(written[`request ${method} ${address}`]?.xml),
      json: String(JSON.stringify(content[mediaTypes.json]?.example)),
    },
  }
})

/** The body with each of its texts and numbers, and each of its names, replaced in turn. */
function bodiesWith(body: string, format: Format, hostile: string | Buffer): Buffer[] {
  const value = format === 'json' ? /(?<=":\s*)(?:"(?:[^"\\]|\\.)*"|[\d.]+|true|false)/g : /(?<=>)[^<\n]+(?=<\/)/g
  const name = format === 'json' ? /(?<=")\w+(?="\s*:)/g : /(?<=<)\w+(?=>)/g
  const text = typeof hostile === 'string' && format === 'json' ? JSON.stringify(hostile).slice(1, -1) : hostile
  const put = (found: RegExpMatchArray, quote: string) =>
    Buffer.concat([
      Buffer.from(body.slice(0, found.index) + quote),
      typeof text === 'string' ? Buffer.from(text) : text,
      Buffer.from(quote + body.slice((found.index ?? 0) + found[0].length)),
    ])
  const values = [...body.matchAll(value)].map((found) => put(found, format === 'json' ? '"' : ''))
  return [...values, ...[...body.matchAll(name)].map((found) => put(found, ''))]
}

/** The body with each member of its root that the example lacks. */
function withOptional({ requestBody }: DescribedOperation, body: string, format: Format, hostile: string | Buffer) {
  type Schema = { readonly properties?: Readonly<Record<string, Schema>> }
  const root = Object.values((requestBody?.content[mediaTypes.json]?.schema as Schema)?.properties ?? {})[0]
  const absent = Object.keys(root?.properties ?? {}).filter((name) => !body.includes(name))
  const end = format === 'json' ? body.lastIndexOf('}', body.lastIndexOf('}') - 1) : body.lastIndexOf('</')
  return absent.flatMap((name) => {
    const member = format === 'json' ? `,"${name}":"?"` : `<${name}>?</${name}>`
    return bodiesWith(body.slice(0, end) + member + body.slice(end), format, hostile).filter(
      (one) => !one.includes('?<') && !one.includes('"?"'),
    )
  })
}

const answering = (status: number) => asked.filter(({ operation }) => String(status) in operation.responses)
const names = (status: number) => answering(status).map((one) => [one.operation.operationId, one] as const)

/** The operation's name with the statuses of its answers in both formats. */
type Outcome = readonly [name: string, ...statuses: number[]]
const both = (name: string, status: number): Outcome => [name, status, status]

describe('every operation of openapi.json', { shuffle: false }, async () => {
  const { store } = await testDatabase()

  const metrics = createMetrics({
    shared: () => Promise.reject(new Error('no numbers')),
    live: async () => undefined,
    onError: () => {},
  })
  const payments = () => {
    const clock = () => api.now
    return testPayments(store, { clock, gateway: gatewayWithWebhooks(store, clock) })
  }

  const api = await testApi(store, { payments: payments(), metrics })
  await storeWells(store.db)
  await (await testPublisher(store, { feedsDir: api.feedsDir, signer: newSigner() })).publish()
  await store.db.query(`insert into account_grant select id, 'donations', now() from account`)
  const base = await listen(api.app)
  const credentials = { user: { email: testUser.email, password: testUser.password }, api_key: api.apiKey }
  const answer = await api.app.inject({
    ...{ method: 'POST', url: '/api/userservice/tokens.json', headers: { 'content-type': mediaTypes.json } },
    payload: { auth_request: credentials },
  })
  const token = answer.json().auth_response.access_token
  await store.db.query(`update access_token set expires_at = '2100-01-01'`)

  const authorized = ({ url, operation }: Asked) => {
    const credentials = { api_key: api.apiKey, api_token: token }
    const wanted = Object.keys(operation.security[0] ?? {}) as (keyof typeof credentials)[]
    return url + wanted.map((name) => `&${name}=${credentials[name]}`).join('')
  }
  const ask = async (
    on: TestApi,
    one: Asked,
    format: Format,
    { url = one.url, headers = {}, ...more }: { url?: string; headers?: object; remoteAddress?: string } = {},
  ) => {
    const own = { accept: mediaTypes[format], ...(one.payload && { 'content-type': mediaTypes[format] }), ...headers }
    const { method, payload } = one
    return await on.app.inject({ method, url, headers: own, ...more, ...(payload && { payload: payload[format] }) })
  }
  const outcomesOf = async (
    one: Asked,
    send: (format: Format) => Promise<{ statusCode: number }>,
  ): Promise<Outcome> => {
    const statuses: number[] = []
    for (const format of formats) statuses.push((await send(format)).statusCode)
    return [one.operation.operationId, ...statuses]
  }

  it('has a name of its own', () => {
    const own = asked.map(({ operation }) => operation.operationId)
    expect(own.filter((name, index) => own.indexOf(name) !== index)).toEqual([])
  })

  it.each(names(400))('answers 400 to a request with two hosts: %s', async (name, one) => {
    const { port } = new URL(base)
    const outcome = await outcomesOf(one, async (format) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(
        `${one.method} ${one.url} HTTP/1.1\r\nHost: a\r\nHost: b\r\nAccept: ${mediaTypes[format]}\r\nConnection: close\r\n\r\n`,
      )
      let text = ''
      socket.on('data', (bytes) => {
        text += String(bytes)
      })
      await once(socket, 'close')
      return { statusCode: Number(text.slice(9, 12)) }
    })
    expect(outcome).toEqual(both(name, 400))
  })

  it('answers 401 to new accounts while registration is closed', async () => {
    const closed = await testApi(store, { store, config: { ...testConfig, registration: 'closed' } })
    const one = asked.find(({ operation }) => operation.operationId === 'createAccount') as Asked
    expect(await outcomesOf(one, (format) => ask(closed, one, format))).toEqual(both('createAccount', 401))
  })

  it('answers 403 over plain HTTP where passwords, tokens or donations are sent', async () => {
    expect(answering(403).length).toBeGreaterThan(5)
    for (const one of asked) {
      if (!('403' in one.operation.responses)) continue
      const outcome = await outcomesOf(one, (format) => ask(api, one, format, { remoteAddress: '203.0.113.7' }))
      expect(outcome).toEqual(both(one.operation.operationId, 403))
    }
  })

  it('answers 503 to too many requests, or before there is a release', async () => {
    const limits = { ...testConfig.limits, requestsPerAddress: 1, connectionsPerAddress: 0 }
    const config = { ...testConfig, limits, trustProxy: true }
    const limited = await testApi(store, { store, config, payments: payments(), metrics })
    const { feedsDir, releases } = api.deps
    const published = await testApi(store, { store, config, feedsDir, releases })
    // These are limited by the number of downloads, so they have to be there.
    const files: Readonly<Record<string, string>> = { getBulkFile: await bulkFile(), getKeptFile: await keptFile() }
    for (const [index, one] of answering(503).entries()) {
      const { operationId } = one.operation
      // Its own answer, which server.test.ts asks for.
      if (operationId === 'isReady') continue
      const on = operationId in files ? published : limited
      const url = files[operationId] ?? one.url
      const headers = proxyHeaders(`203.0.113.${index}`)
      await ask(on, one, 'json', { url, headers })
      const outcome = await outcomesOf(one, (format) => ask(on, one, format, { url, headers }))
      expect(outcome).toEqual(both(operationId, 503))
    }
  })

  const keptFile = async () => `/feeds/releases/${(await api.deps.releases.live())?.id}/feeds/manifest.json`
  const webhook = asked.find(({ operation }) => operation.operationId === 'receiveWebhook') as Asked
  /** A signed event of the payment processor. */
  const askWebhook = async (on: TestApi, format: Format) => {
    const intent = { object: 'payment_intent', id: 'pi_1', metadata: { reference: 'tx-000071' } }
    const event = {
      id: `evt_${format}`,
      type: 'charge.succeeded',
      created: 1,
      livemode: false,
      data: { object: intent },
    }
    const payload = JSON.stringify(event)
    const timestamp = api.now.getTime() / 1000
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret, timestamp })
    const headers = { 'content-type': mediaTypes.json, 'stripe-signature': signature }
    return await ask(on, { ...webhook, payload: { xml: payload, json: payload } }, format, { headers })
  }

  const bulkFile = async (): Promise<string> => {
    const url = `/api/public/projectservice/all/projects/download.json?api_key=${api.apiKey}`
    return new URL((await api.app.inject(url)).json().download.url).pathname
  }

  it('gives a token for the client of the gateway', async () => {
    const one = asked.find(({ operation }) => operation.operationId === 'createClientToken') as Asked
    for (const format of formats) {
      const answer = await ask(api, one, format, { url: authorized(one) })
      expect(answer.statusCode).toBe(200)
      await expect(answer.body).toMatchFileSnapshot(`../../../golden/api/client-token.${format}`)
    }
  })

  it.each([
    [404, '77'],
    [410, '2046'],
  ])('answers %s to a donation for a project that cannot take it', async (status, project) => {
    for (const one of asked.filter(({ operation }) => operation.tags.includes('Donations') && operation.parameters)) {
      if (one === webhook) continue
      const payload = one.payload && {
        xml: one.payload.xml.replace('2045', project),
        json: one.payload.json.replace('2045', project),
      }
      const url = `${authorized(one)}&is_test=true`
      const outcome = await outcomesOf(one, (format) => ask(api, { ...one, payload }, format, { url }))
      expect(outcome).toEqual(both(one.operation.operationId, status))
    }
  })

  it('takes an event of the payment processor', async () => {
    for (const format of formats) {
      const answer = await askWebhook(api, format)
      expect(answer.statusCode).toBe(200)
      await expect(answer.body).toMatchFileSnapshot(`../../../golden/api/webhook.${format}`)
    }
  })

  it('serves pages, health and the description', async () => {
    const activity = '/iati/activities/US-EIN-123456789-2045'
    const others = ['/themes.xml', '/themes.json', `${activity}.xml`, `${activity}.json`, '/feeds/status.json']
    const unknown = ['/demo/files/x/plan.pdf', '/iati/activities/nothing']
    for (const url of unknown) {
      for (const format of formats) {
        const answer = await api.app.inject({ url, headers: { accept: mediaTypes[format] } })
        expect([url, answer.statusCode]).toEqual([url, 404])
      }
    }
    for (const url of ['/', '/api/docs', '/api/openapi.json', '/api/openapi-json.json', ...others]) {
      const answer = await api.app.inject({ url })
      expect([url, answer.statusCode]).toEqual([url, 200])
      const { etag } = answer.headers
      if (etag === undefined) continue
      expect((await api.app.inject({ url, headers: { 'if-none-match': etag } })).statusCode).toBe(304)
    }
    for (const url of ['/healthz', '/readyz', '/metrics']) expect((await api.app.inject({ url })).statusCode).toBe(200)
  })

  describe('of published files', () => {
    let laid: TestApi
    const filesOf = async (): Promise<Record<string, readonly [TestApi, string]>> => {
      const release = (await api.deps.releases.live())?.id
      const kept = (file: string) => [api, `/feeds/releases/${release}${file}`] as const
      return {
        ...Object.fromEntries(answering(206).map(({ operation, url }) => [operation.operationId, [api, url] as const])),
        getBulkFile: [api, await bulkFile()],
        ...Object.fromEntries(
          ['jsonld', 'ttl', 'rdf'].map((suffix) => [`getKeptFile, ${suffix}`, kept(`/data/catalog.${suffix}`)]),
        ),
        'getKeptFile, text': kept('/llms.txt'),
        'getKeptFile, a key': kept('/.well-known/giving-iati-key.pem'),
        getTable: [api, '/data/activities.csv'],
        'getTable, Parquet': [api, '/data/activities.parquet'],
        getIatiFile: [laid, '/iati/activities-2.xml'],
        getFeedFile: [laid, '/feeds/reports/archive-1.atom'],
        getKeptFile: kept('/iati/activities.xml'),
        'getKeptFile, CSV': kept('/data/activities.csv'),
        'getKeptFile, Parquet': kept('/data/activities.parquet'),
        'getKeptFile, a feed': kept('/feeds/reports.atom'),
        'getKeptFile, the list of feeds': kept('/feeds/opml.xml'),
        'getKeptFile, the manifest': kept('/feeds/manifest.json'),
      }
    }

    beforeAll(async () => {
      laid = await testApi(store, { store })
      const file = (address: string, mediaType: string) => ({ path: address, mediaType, text: '<a/>' })
      await layRelease(laid.feedsDir, {
        ...{ id: '20261121T020000Z-2', lastModified: '2026-11-21T02:00:00Z' },
        files: [
          file('/iati/activities-2.xml', 'application/xml; charset=utf-8'),
          file('/feeds/reports/archive-1.atom', 'application/atom+xml; charset=utf-8'),
        ],
      })
    })

    it('answers whole files, parts, what has not changed, and ranges outside of the file', async () => {
      for (const [name, [on, url]] of Object.entries(await filesOf())) {
        const get = (headers: Record<string, string>) => on.app.inject({ url, headers })
        const whole = await get({})
        const statuses = [
          whole.statusCode,
          (await get({ range: 'bytes=0-1' })).statusCode,
          (await get({ 'if-none-match': String(whole.headers.etag) })).statusCode,
          (await get({ range: 'bytes=99999999-', accept: mediaTypes.xml })).statusCode,
          (await get({ range: 'bytes=99999999-', accept: mediaTypes.json })).statusCode,
          (await get({ 'if-match': '"another"', accept: mediaTypes.xml })).statusCode,
          (await get({ 'if-match': '"another"', accept: mediaTypes.json })).statusCode,
        ]
        expect([name, statuses]).toEqual([name, [200, 206, 304, 416, 416, 412, 412]])
      }
    })

    it('answers 404 where a release has no such file', async () => {
      const empty = await testApi(store, { store })
      await layRelease(empty.feedsDir, { id: '20261121T020000Z-2', lastModified: '2026-11-21T02:00:00Z', files: [] })
      for (const one of [...answering(206), ...asked.filter((one) => one.operation.operationId === 'getActivity')]) {
        const status = '410' in one.operation.responses ? 410 : '404' in one.operation.responses ? 404 : 200
        const outcome = await outcomesOf(one, (format) => ask(empty, one, format))
        expect(outcome).toEqual(both(one.operation.operationId, status))
      }
    })
  })

  it('answers errors as the examples of the description show', async () => {
    const shown: Readonly<Record<number, () => ReturnType<TestApi['app']['inject']>>> = {}
    const get = (url: string, more: object = {}) => api.app.inject({ url, ...more })
    const projects = '/api/public/projectservice'
    const key = `api_key=${api.apiKey}`
    for (const format of formats) {
      const cases = {
        ...shown,
        400: await get(`${projects}/all/projects.${format}?limit=0&${key}`),
        403: await get(`/api/secure/givingservice/clienttoken.${format}`, { remoteAddress: '203.0.113.7' }),
        404: await get(`${projects}/projects/77.${format}?${key}`),
        410: await get(`${projects}/projects/2046.${format}?${key}`),
        412: await get('/feeds/manifest.json', { headers: { 'if-match': '"other"', accept: mediaTypes[format] } }),
        416: await get('/feeds/manifest.json', { headers: { range: 'bytes=99999999-', accept: mediaTypes[format] } }),
      }
      for (const [status, { statusCode, body }] of Object.entries(cases)) {
        expect(statusCode).toBe(Number(status))
        await expect(body.replace(/file's \d+ bytes/, "file's 2301 bytes")).toMatchFileSnapshot(
          `../../../golden/api/errors/${status}.${format}`,
        )
      }
    }
  })

  describe('and every page', () => {
    /** As they stand in an address and in a body, which may be no text at all. */
    const hostile = {
      'a name of the prototype': ['__proto__', '__proto__'],
      'a member of the prototype': ['constructor', 'constructor'],
      NUL: ['%00', '\0'],
      'overlong UTF-8': ['%c0%80', Buffer.from([0xc0, 0x80])],
    } as const
    const pages = ['/projects/@', '/organisations/@', '/countries/@', '/sectors/@', '/themes/@', '/changes/@', '/@']
    const lists = ['q', 'country', 'sector', 'theme', 'organisation', 'page', 'sort', '@'].map(
      (name) => `/projects?${name}=@`,
    )
    const others = ['/sitemap-@.xml', '/%65n/@', '/feeds/@', '/feeds/releases/@', '/api/@', '/api/docs/@', '/demo/@']

    const addressesOf = (operation: DescribedOperation, template: string) => {
      const [path = '', query = ''] = authorized({ ...byId(operation.operationId), url: urlOf(operation) }).split('?')
      const names = [...new URLSearchParams(query).keys(), 'limit', 'filter', 'modifiedSince', 'nextProjectId', '@']
      const parts = [...template.matchAll(/\{\w+\}/g)].map(([part]) => part)
      return [
        ...parts.map((part) => `${filled(template.replace(part, '@'), operation)}?${query}`),
        ...names.map((name) => `${path}?${query.replace(new RegExp(`(?:^|&)${name}=[^&]*`), '')}&${name}=@`),
      ]
    }
    const byId = (id: string) => asked.find(({ operation }) => operation.operationId === id) as Asked
    const urlOf = (operation: DescribedOperation) => byId(operation.operationId).url
    type HostileRequest = {
      readonly method: 'GET' | 'POST'
      readonly url: string
      readonly payload?: Buffer
      readonly type?: string
    }
    const requestsOf = (
      { path: template, operation }: ReturnType<typeof operationsOf>[number],
      inAddress: string,
      inBody: string | Buffer,
    ): HostileRequest[] => {
      const { method, payload } = byId(operation.operationId)
      // A webhook has no example; what a key may have is looked at once its owner is known.
      const own = { email: testUser.email, password: testUser.password }
      const examples =
        operation.operationId === 'createKey' ? { json: JSON.stringify({ key_request: { user: own } }) } : {}
      const body = (format: Format) =>
        payload?.[format] === 'undefined' ? '{"data":{"id":"x"}}' : ({ ...payload, ...examples }[format] ?? '')
      const whole = payload && { payload: Buffer.from(body('json')), type: mediaTypes.json }
      return [
        ...addressesOf(operation, template).map((url) => ({ method, url: url.replaceAll('@', inAddress), ...whole })),
        ...(payload ? formats : []).flatMap((format) =>
          [...bodiesWith(body(format), format, inBody), ...withOptional(operation, body(format), format, inBody)].map(
            (bytes) => ({
              ...{ method, url: authorized(byId(operation.operationId)), payload: bytes, type: mediaTypes[format] },
            }),
          ),
        ),
      ]
    }
    const filled = (template: string, { operationId }: DescribedOperation) => {
      const known = new Map<string, string>()
      for (const { name, example } of Object.values(parametersOf(operationId))) known.set(String(name), String(example))
      return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(known.get(name) ?? 'x'))
    }

    const hostiles = Object.entries(hostile).map(([what, texts], first) => ({ what, texts, first }))
    it.each(hostiles)('has no 500 for $what in any parameter', async ({ texts: [inAddress, inBody], first }) => {
      const [before, began] = [api.log.length, api.now]
      const send = async ({ type, ...request }: HostileRequest) => {
        // Nobody waits for the failures of others.
        api.now = new Date(api.now.getTime() + 1_200_000)
        const answer = await api.app.inject({
          ...request,
          ...(type !== undefined && { headers: { 'content-type': type } }),
        })
        const isRefused = answer.statusCode < 500 || (answer.statusCode === 503 && !answer.body.includes('(request '))
        expect(isRefused, `${request.method} ${request.url} ${request.payload}: ${answer.body}`).toBe(true)
      }
      const addresses = [...pages, ...lists, ...pages.map((page) => `/en${page}`), ...others]
      const requests = [
        ...addresses.map((url) => ({ method: 'GET' as const, url: url.replaceAll('@', inAddress) })),
        ...operationsOf(description).flatMap((one) => requestsOf(one, inAddress, inBody)),
      ]
      expect(requests.length).toBeGreaterThan(500)
      const some = someOf(requests, 2 * hostiles.length, first)
      for (let at = 0; at < some.length; at += 20) await Promise.all(some.slice(at, at + 20).map(send))
      api.now = began
      expect(api.log.slice(before).filter(({ level }) => Number(level) >= 50)).toEqual([])
    })
  })

  // Last, since the service is broken afterwards.
  it('answers 500, with the id of the request and nothing else, when the service is broken', async () => {
    const files: Readonly<Record<string, string>> = { getBulkFile: await bulkFile(), getKeptFile: await keptFile() }
    const urlOf = (one: Asked) => files[one.operation.operationId] ?? authorized(one)
    const bulk = path.join(api.feedsDir, ...(await pathOfBulkPart(api.feedsDir)))
    await truncate(bulk, 1)
    const release = (await api.deps.releases.live())?.id ?? ''
    await writeFile(path.join(api.feedsDir, 'releases', release, 'manifest.json'), '{"broken')
    await store.db.query('alter schema public rename to elsewhere')
    const broken = await testApi(store, {
      ...{ store, config: { ...testConfig, sendsMail: true } },
      releases: createReleaseReader(api.feedsDir),
      feedsDir: api.deps.feedsDir,
      payments: payments(),
    })
    for (const one of answering(500)) {
      const outcome = await outcomesOf(one, (format) =>
        one === webhook ? askWebhook(broken, format) : ask(broken, one, format, { url: urlOf(one) }),
      )
      expect(outcome).toEqual(both(one.operation.operationId, 500))
    }
    for (const format of formats) {
      const answer = await broken.app.inject(`/api/public/projectservice/themes.${format}?api_key=${api.apiKey}`)
      const body = answer.body.replace(/request [\da-f-]{36}/, 'request 0f8fad5b-d9cb-469f-a165-70867728950e')
      await expect(body).toMatchFileSnapshot(`../../../golden/api/errors/500.${format}`)
    }
    await store.db.query('alter schema elsewhere rename to public')
  })
})

/** The path of a part of the bulk file of projects below the folder of the published files. */
async function pathOfBulkPart(feedsDir: string): Promise<string[]> {
  const files = await readdir(feedsDir, { recursive: true })
  const found = files.find((name) => /bulk.*\/layers\/.*\/projects$/.test(name))
  if (found === undefined) throw new Error(`no bulk file among ${files.join(', ')}`)
  return found.split('/')
}
