import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import S3rver from '@20minutes/s3rver'
import type { BucketSettings } from '../../../src/extensions/bucket/bucket.js'
import type { Manifest } from '../../../src/release/read/manifest.js'
import { forkStripped } from '../commands/cli.js'
import { temporaryFolder } from '../values/temporary-folder.js'

/** A request to the bucket, as `PUT iati/activities.xml`; a copy inside the bucket is a `COPY`. */
type BucketRequest = { readonly method: string; readonly key: string }

export type BucketServer = AsyncDisposable & {
  readonly settings: BucketSettings
  /** Where everybody reads the bucket. */
  readonly url: string
  /** The folder in which its server keeps it. */
  readonly directory: string
  /** Every request of the writer, oldest first. */
  readonly requests: BucketRequest[]
  /** Requests that change the bucket. */
  writes(): string[]
  /** Called with each writing request before it is done; `false` breaks the connection off instead. */
  onWrite: (request: BucketRequest) => boolean | Promise<boolean>
  /** Breaks the connection off within the content of an object, after so many bytes. */
  cutAfterBytes?: number | undefined
  /** What older services do with a write that has a condition: write, or say that they know none. */
  conditions?: 'ignored' | 'refused' | undefined
}

/** Delivers in a process of its own, which is killed (kill -9) before its write number `at`; false when it made fewer. */
export async function killDelivery(server: BucketServer, url: string, feedsDir: string, at: number): Promise<boolean> {
  const endpoint = server.settings.endpoint ?? ''
  const child = await forkStripped('test/support/processes/bucket-process.ts', [url, feedsDir, endpoint])
  let left = at
  server.onWrite = () => {
    if (left-- > 0) return true
    child.kill('SIGKILL')
    return false
  }
  await once(child, 'exit')
  server.onWrite = () => true
  return child.signalCode === 'SIGKILL'
}

/** The release whose files a reader gets who follows the manifest; undefined when one is missing or another's. */
export async function followedRelease({ url }: BucketServer): Promise<string | undefined> {
  const manifest = (await (await fetch(`${url}/feeds/manifest.json`)).json()) as Manifest
  for (const { immutablePath, sha256 } of manifest.files) {
    const bytes = Buffer.from(await (await fetch(url + immutablePath)).arrayBuffer())
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) return undefined
  }
  return manifest.release
}

/** An S3 server of its own with one bucket. */
export async function startBucketServer(): Promise<BucketServer> {
  const directory = await temporaryFolder()
  const configureBuckets = [{ name: 'giving' }]
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets })
  await s3.configureBuckets()
  const serve = s3.callback()
  const requests: BucketRequest[] = []
  let conditional: Promise<unknown> = Promise.resolve()
  const server = createServer(async (request, response) => {
    const asked = describeRequest(request)
    if (request.headers.authorization !== undefined) {
      requests.push(asked)
      if (isWrite(asked) && !(await state.onWrite(asked))) return void request.socket.destroy()
    }
    // Its check of signatures takes the address of a whole bucket for another one than clients sign: it lists for everybody.
    if (asked.key === '') delete request.headers.authorization
    const cut = state.cutAfterBytes
    if (cut !== undefined && request.method === 'GET' && asked.key !== '') cutAfter(response, cut)
    const hasCondition = 'if-match' in request.headers || 'if-none-match' in request.headers
    if (state.conditions === 'ignored' || request.method !== 'PUT' || !hasCondition) {
      return void serve(request, response)
    }
    if (state.conditions === 'refused') return refuse(request, response, 501, 'NotImplemented')
    // One after the other, and each sees what the one before has written.
    conditional = conditional.then(async () => {
      // Of a client that was killed while it waited nothing comes any more.
      const closed = response.destroyed || once(response, 'close').catch(() => undefined)
      if (await mayWrite(`${state.url}/${asked.key}`, request)) {
        if (response.destroyed) return
        serve(request, response)
        await closed
      } else {
        refuse(request, response, 412, 'PreconditionFailed')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: BucketServer = {
    // The key that the server knows.
    settings: {
      name: 'giving',
      region: 'us-east-1',
      endpoint,
      keys: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    url: `${endpoint}/giving`,
    directory,
    requests,
    writes: () => requests.filter(isWrite).map(({ method, key }) => `${method} ${key}`),
    onWrite: () => true,
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return state
}

/**
 * Whether a conditional write may go on, as S3 does it: `If-None-Match: *` for an object that is not there, `If-Match` for the version
 * that the writer has read.
 */
async function mayWrite(url: string, { headers }: IncomingMessage): Promise<boolean> {
  const found = await fetch(url, { method: 'HEAD' })
  const there = found.ok ? (found.headers.get('etag') ?? '') : undefined
  const [match, noneMatch] = [headers['if-match'], headers['if-none-match']]
  return match === undefined ? noneMatch !== '*' || there === undefined : match === there
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string): void {
  request.resume()
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<Error><Code>${code}</Code><Message>It is not written</Message></Error>`)
}

/** Lets an answer end in the middle, after so many bytes of its body. */
function cutAfter(response: ServerResponse, most: number): void {
  const write = response.write.bind(response) as (chunk: Buffer, ...rest: unknown[]) => boolean
  let bytes = 0
  response.write = ((chunk: Buffer, ...rest: unknown[]) => {
    bytes += chunk.length
    if (bytes <= most) return write(chunk, ...rest)
    write(chunk.subarray(0, chunk.length - (bytes - most)))
    setImmediate(() => response.destroy())
    return true
  }) as typeof response.write
}

function isWrite({ method }: BucketRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function describeRequest({ method = '', url = '', headers }: IncomingMessage): BucketRequest {
  const [, , ...key] = new URL(url, 'http://localhost').pathname.split('/')
  return { method: 'x-amz-copy-source' in headers ? 'COPY' : method, key: key.join('/') }
}
