import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../kernel/errors.js'
import type { Body as FileBody } from '../../release/folder/body.js'
import { cacheControl, type FileLifetime } from '../../release/folder/served-file.js'
import { linesOf } from '../../release/read/lines-of.js'

/** Where the bucket is and how it is written to; without keys they are found as the AWS SDK finds them. */
export type BucketSettings = {
  readonly name: string
  readonly region: string
  /** The address of a service other than AWS. */
  readonly endpoint: string | undefined
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
}

/** An object as it is sent. */
export type BucketObject = {
  readonly key: string
  readonly body: FileBody | Buffer
  readonly mediaType: string
  /** Hash of the content before compression, hex; shows whether the object exists already. */
  readonly sha256: string
  readonly encoding?: 'gzip'
  readonly lifetime: FileLifetime
}

/** A bucket of a service that speaks S3. Every call throws `bucket-unavailable`, or `aborted` by the signal. */
export type Bucket = {
  /** The SHA-256 that the object was sent with; undefined when there is no such object. */
  sha256Of(key: string): Promise<string | undefined>
  put(object: BucketObject): Promise<void>
  /** Copies inside the bucket, with the headers of `object`; false when `from` is not there. */
  copy(from: string, object: BucketObject): Promise<boolean>
  /**
   * As `put`, if the object still has this mark (undefined: if there is no such object); returns undefined if not. With a service
   * that has no conditional writes it throws, or writes all the same where `unless` is `unknown`.
   */
  putIf(object: BucketObject, mark: string | undefined, unless?: 'unknown'): Promise<string | undefined>
  /** A small object, with a mark of this version; undefined when there is no such object. */
  get(key: string): Promise<{ readonly body: Buffer; readonly mark: string } | undefined>
  /** Hands the content of an object over, from its beginning again after a failure; throws also when there is no such object. */
  download(key: string, bytes: number, take: (chunks: AsyncIterable<Buffer>) => Promise<void>): Promise<void>
  /** The lines of a text; none when there is no such object. */
  lines(key: string): AsyncIterable<string>
  remove(key: string): Promise<void>
  keys(prefix: string): AsyncIterable<string>
  /** The folders directly below a prefix, by name. */
  folders(prefix: string): AsyncIterable<string>
}

// How often a request is sent that fails, and how long a connection may be silent.
const patience = { work: { tries: 6, silentMs: 30_000 }, person: { tries: 2, silentMs: 3_000 } } as const

// A request that the service fails is sent again, after a pause that doubles.
const firstPauseMs = 50
// A request may take as long as a connection may be silent, plus the time to send its content at this rate.
const slowestBytesPerMs = 50

/** Connects to a bucket, for work or a person who waits; the library is loaded here, since most services have none. */
export async function openBucket(
  settings: BucketSettings,
  signal: AbortSignal,
  waiting: keyof typeof patience = 'work',
): Promise<Bucket> {
  const { tries, silentMs } = patience[waiting]
  const s3 = await import('@aws-sdk/client-s3')
  const { name: Bucket, region, endpoint, keys: credentials } = settings
  const client = new s3.S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Repeated here, where the body of a file can be read again.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: Math.min(5_000, silentMs), socketTimeout: silentMs },
    // The library would write to standard error.
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    // Other services than AWS refuse checksums that they do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })

  const toBucketError = (error: unknown, timeOut?: AbortSignal): unknown => {
    if (signal.aborted) return new ServiceError('aborted', 'sending to the bucket was interrupted')
    if (isNotFound(error)) return error
    if (isConditionFailed(error)) return conditionFailed
    const reason = timeOut?.aborted ? 'no answer in time' : reasonOf(error)
    // The cause is left out, since it has the whole signed request.
    return new ServiceError('bucket-unavailable', `the bucket ${Bucket}: ${reason}`)
  }
  const send = async <T>(bytes: number, work: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const timeOut = AbortSignal.timeout(silentMs + Math.ceil(bytes / slowestBytesPerMs))
      try {
        return await work({ abortSignal: AbortSignal.any([signal, timeOut]) })
      } catch (error) {
        if (signal.aborted || timeOut.aborted || attempt === tries || !isPassing(error))
          throw toBucketError(error, timeOut)
      }
      await sleep(firstPauseMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined)
    }
  }
  const headersOf = ({ mediaType, sha256, encoding, lifetime }: BucketObject) => ({
    ContentType: mediaType,
    CacheControl: cacheControl[lifetime],
    ...(encoding && { ContentEncoding: encoding }),
    Metadata: { sha256 },
  })
  const list = async function* (prefix: string, delimiter?: string) {
    let next: string | undefined
    do {
      const input = { Bucket, Prefix: prefix, Delimiter: delimiter, ContinuationToken: next }
      const page = await send(0, (options) => client.send(new s3.ListObjectsV2Command(input), options))
      yield page
      next = page.NextContinuationToken
    } while (next !== undefined)
  }

  return {
    sha256Of: async (key) => {
      try {
        const found = await send(0, (options) => client.send(new s3.HeadObjectCommand({ Bucket, Key: key }), options))
        return found.Metadata?.sha256
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    put: async (object) => {
      const { key, body } = object
      await send(body.length, async (options) => {
        const Body = Buffer.isBuffer(body) ? body : Readable.from(body.chunks(), { objectMode: false })
        const input = { Bucket, Key: key, Body, ContentLength: body.length, ...headersOf(object) }
        try {
          await client.send(new s3.PutObjectCommand(input), options)
        } finally {
          if (!Buffer.isBuffer(Body)) Body.destroy()
        }
      })
    },
    putIf: async (object, mark, unless) => {
      const { key, body } = object
      const Body = Buffer.isBuffer(body) ? body : await body.bytes()
      const input = { Bucket, Key: key, Body, ContentLength: Body.length, ...headersOf(object) }
      const condition = mark === undefined ? { IfNoneMatch: '*' } : { IfMatch: mark }
      const put = (more: object, options: { abortSignal: AbortSignal }) =>
        client.send(new s3.PutObjectCommand({ ...input, ...more }), options)
      try {
        const sent = await send(Body.length, async (options) => {
          try {
            return await put(condition, options)
          } catch (error) {
            if (unless !== 'unknown' || !isNotImplemented(error)) throw error
            return await put({}, options)
          }
        })
        return sent.ETag ?? ''
      } catch (error) {
        if (error === conditionFailed) return undefined
        throw error
      }
    },
    get: async (key) => {
      try {
        return await send(0, async (options) => {
          const found = await client.send(new s3.GetObjectCommand({ Bucket, Key: key }), options)
          return { body: Buffer.from((await found.Body?.transformToByteArray()) ?? []), mark: found.ETag ?? '' }
        })
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    download: async (key, bytes, take) => {
      try {
        await send(bytes, async (options) => {
          const found = await client.send(new s3.GetObjectCommand({ Bucket, Key: key }), options)
          await take(found.Body as Readable)
        })
      } catch (error) {
        throw isNotFound(error) ? new ServiceError('bucket-unavailable', `the bucket ${Bucket} has no ${key}`) : error
      }
    },
    copy: async (from, object) => {
      const source = { CopySource: `${Bucket}/${encodeURI(from)}`, MetadataDirective: 'REPLACE' } as const
      const input = { Bucket, Key: object.key, ...source, ...headersOf(object) }
      try {
        await send(object.body.length, (options) => client.send(new s3.CopyObjectCommand(input), options))
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    },
    lines: async function* (key) {
      try {
        const found = await send(0, (options) => client.send(new s3.GetObjectCommand({ Bucket, Key: key }), options))
        yield* linesOf(found.Body as Readable)
      } catch (error) {
        if (!isNotFound(error)) throw error instanceof ServiceError ? error : toBucketError(error)
      }
    },
    remove: async (key) => {
      await send(0, (options) => client.send(new s3.DeleteObjectCommand({ Bucket, Key: key }), options))
    },
    keys: async function* (prefix) {
      for await (const { Contents = [] } of list(prefix)) for (const { Key = '' } of Contents) yield Key
    },
    folders: async function* (prefix) {
      for await (const { CommonPrefixes = [] } of list(prefix, '/')) {
        for (const { Prefix = '' } of CommonPrefixes) yield Prefix.slice(prefix.length, -1)
      }
    },
  }
}

const nothing = () => undefined

const conditionFailed = Symbol('condition failed')

/** Tells errors of the service apart by their names. */
const isNamed =
  (...names: string[]) =>
  (error: unknown) =>
    error instanceof Error && names.includes(error.name)
// The object is another one than the request expected; of two requests at once one may be told to try again.
const isConditionFailed = isNamed('PreconditionFailed', 'ConditionalRequestConflict')
const isNotImplemented = isNamed('NotImplemented')
const isNotFound = isNamed('NotFound', 'NoSuchKey')

/** Whether the same request may succeed soon: there was no answer, or the service says that the failure is its own. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || isNotFound(error) || isNotImplemented(error)) return false
  const { $metadata: { httpStatusCode: status } = {} } = error as { $metadata?: { httpStatusCode?: number } }
  return status === undefined || status === 429 || status >= 500
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  return error.message === '' || error.message === code ? code : `${code}: ${error.message}`
}
