import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../kernel/errors.js'
import { missingPackage } from '../../platform/config/own-package.js'
import { checkAddress, publicLookup } from '../../platform/outgoing/public-addresses.js'
import {
  bounded,
  isHidden,
  type PlaceDeps,
  type PlaceFile,
  readPassword,
  type SourcePlace,
  sourceUnavailable,
  toPlaceError,
} from './place.js'

/** An object of a bucket, or with a slash at the end the objects directly below it. */
export type S3Location = {
  readonly bucket: string
  readonly key: string
  readonly region: string
  /** The address of a service other than AWS. */
  readonly endpoint: string | undefined
}

const defaultRegion = 'us-east-1'

/** Reads `s3://bucket/folder/?region=eu-central-1&endpoint=https://...`; undefined when it is no such address. */
export function readS3Location(url: URL): S3Location | undefined {
  const { hostname: bucket, searchParams: options } = url
  const endpoint = options.get('endpoint') ?? undefined
  const isKnown = [...options.keys()].every((name) => name === 'region' || name === 'endpoint')
  const isUsable = endpoint === undefined || /^https?:\/\/[^@]+$/.test(endpoint)
  if (bucket === '' || url.username !== '' || !isKnown || !isUsable) return undefined
  const key = decodeURIComponent(url.pathname.slice(1))
  return { bucket, key, region: options.get('region') ?? defaultRegion, endpoint }
}

/**
 * A bucket. The secret is `ACCESS_KEY_ID:SECRET_ACCESS_KEY`; without one the AWS SDK finds the keys. The library is loaded
 * here, since most services do not need it.
 */
export async function openS3(
  { bucket, key: location, region, endpoint }: S3Location,
  deps: PlaceDeps,
): Promise<SourcePlace> {
  const { source, allowPrivateNetworks, signal, limits } = deps
  if (endpoint !== undefined) checkAddress(new URL(endpoint), allowPrivateNetworks)
  const missing = missingPackage('@aws-sdk/client-s3')
  if (missing) throw new ServiceError('configuration-invalid', `s3://${bucket}: expected ${missing}`)
  const [accessKeyId = '', ...rest] =
    source.secretFile === undefined ? [] : (await readPassword(source.secretFile)).split(':')
  const s3 = await import('@aws-sdk/client-s3')
  const client = new s3.S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(accessKeyId !== '' && { credentials: { accessKeyId, secretAccessKey: rest.join(':') } }),
    requestHandler: {
      ...{ connectionTimeout: limits.connectMs, socketTimeout: limits.idleMs, requestTimeout: limits.idleMs },
      ...(!allowPrivateNetworks && {
        httpAgent: new HttpAgent({ lookup: publicLookup }),
        httpsAgent: new HttpsAgent({ lookup: publicLookup }),
      }),
    },
    // The library would write to standard error.
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const what = `s3://${bucket}/${location}`
  const options = { abortSignal: AbortSignal.any([signal, AbortSignal.timeout(limits.totalMs)]) }
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      // The cause is left out, since it has the whole signed request.
      const reason = error instanceof Error && error.message === '' ? new Error(error.name) : error
      throw error instanceof ServiceError ? error : sourceUnavailable((toPlaceError(reason, what) as Error).message)
    }
  }
  const isFolder = location === '' || location.endsWith('/')
  return {
    isFolder,
    list: () =>
      translated(async () => {
        if (!isFolder) return [{ name: path.posix.basename(location) }]
        const files: PlaceFile[] = []
        for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
          const input = { Bucket: bucket, Prefix: location, Delimiter: '/', ContinuationToken: next }
          const page = await client.send(new s3.ListObjectsV2Command(input), options)
          for (const { Key = '', ETag } of page.Contents ?? []) {
            const name = Key.slice(location.length)
            if (name !== '' && !isHidden(name)) files.push({ name, version: ETag })
          }
          if (files.length > limits.files) throw sourceUnavailable(`${what} has more than ${limits.files} files`)
          next = page.NextContinuationToken
        }
        return files
      }),
    open: ({ name, version }, known) =>
      translated(async () => {
        if (version !== undefined && version === known) return undefined
        const Key = isFolder ? location + name : location
        // Another version than the listed one is for the next time.
        const found = await client.send(new s3.GetObjectCommand({ Bucket: bucket, Key, IfMatch: version }), options)
        if (found.ETag !== undefined && found.ETag === known) {
          ;(found.Body as Readable).destroy()
          return undefined
        }
        return { version: found.ETag, chunks: whole(found.Body as Readable, found.ContentLength) }
      }),
    [Symbol.asyncDispose]: async () => client.destroy(),
  }

  async function* whole(body: Readable, length: number | undefined): AsyncGenerator<Buffer> {
    let bytes = 0
    for await (const chunk of bounded(body, what, deps)) {
      bytes += chunk.length
      yield chunk
    }
    if (bytes !== length) throw sourceUnavailable(`${what} was cut: ${bytes} of ${length} bytes came`)
  }
}

const nothing = () => undefined
