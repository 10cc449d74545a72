import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { BucketSettings } from '../../src/publishing/bucket/bucket.js'

/** A request to the bucket, as `PUT iati/activities.xml`; a copy inside the bucket is a `COPY`. */
export type BucketRequest = { readonly method: string; readonly key: string }

export type BucketServer = AsyncDisposable & {
  readonly settings: BucketSettings
  /** Where everybody reads the bucket. */
  readonly url: string
  /** Every request of the writer, oldest first. */
  readonly requests: BucketRequest[]
  /** Requests that change the bucket. */
  writes(): string[]
  /** Called with each writing request before it is done; `false` breaks the connection off instead. */
  onWrite: (request: BucketRequest) => boolean
}

/** An S3 server of its own with one bucket. */
export async function startBucketServer(): Promise<BucketServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'giving-bucket-'))
  const configureBuckets = [{ name: 'giving' }]
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets })
  await s3.configureBuckets()
  const serve = s3.callback()
  const requests: BucketRequest[] = []
  const server = createServer((request, response) => {
    const asked = describeRequest(request)
    if (request.headers.authorization !== undefined) {
      requests.push(asked)
      if (isWrite(asked) && !state.onWrite(asked)) return void request.socket.destroy()
    }
    // Its check of signatures takes the address of a whole bucket for another one than clients sign: it lists for everybody.
    if (asked.key === '') delete request.headers.authorization
    serve(request, response)
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

function isWrite({ method }: BucketRequest): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function describeRequest({ method = '', url = '', headers }: IncomingMessage): BucketRequest {
  const [, , ...key] = new URL(url, 'http://localhost').pathname.split('/')
  return { method: 'x-amz-copy-source' in headers ? 'COPY' : method, key: key.join('/') }
}
