import { readFile, stat } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'
import { reasonOf } from '../../platform/outgoing/http-client.js'
import type { SourceDefinition } from '../sql/import-sources.js'

/** A file that a place has, and what tells that it is another one than before, where the list shows it. */
export type PlaceFile = { readonly name: string; readonly version?: string | undefined }

/** The content of a file, from its first to its last byte: the chunks throw when anything is missing. */
type PlaceContent = { readonly version: string | undefined; readonly chunks: AsyncIterable<Buffer> }

/** Where the files of a source are. Whatever fails there throws `source-unavailable`, or `address-refused`. */
export type SourcePlace = AsyncDisposable & {
  /** Its files, in the order in which they are imported. */
  list(): Promise<readonly PlaceFile[]>
  /** Opens a file; undefined when it is still the `known` version. */
  open(file: PlaceFile, known: string | undefined): Promise<PlaceContent | undefined>
}

/** What the work on a place may cost. */
export const placeLimits = {
  connectMs: 10_000,
  /** The longest silence before and within an answer. */
  idleMs: 60_000,
  totalMs: 2 * 3_600_000,
  bytes: 4 * 1024 * 1024 * 1024,
  files: 10_000,
}

export type PlaceDeps = {
  readonly source: Pick<SourceDefinition, 'from' | 'secretFile' | 'hostKey'>
  readonly allowPrivateNetworks: boolean
  readonly signal: AbortSignal
  readonly limits: typeof placeLimits
}

export function sourceUnavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('source-unavailable', message, { cause })
}

/** What a failure of a place is; those that have a code of ours stay. */
export function toPlaceError(error: unknown, what: string): unknown {
  return error instanceof ServiceError ? error : sourceUnavailable(`${what}: ${reasonOf(error)}`, error)
}

/** Does work at a place; a failure is one of the place, unless the signal is aborted. */
export async function atPlace<T>(what: string, { signal }: PlaceDeps, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw toPlaceError(error, what)
  }
}

/** The chunks of a file of a place, ending with an error as soon as it has too many bytes. */
export async function* bounded(
  chunks: AsyncIterable<Buffer>,
  what: string,
  { signal, limits }: PlaceDeps,
): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > limits.bytes) throw sourceUnavailable(`${what} has more than ${limits.bytes} bytes`)
      yield chunk
    }
  } catch (error) {
    signal.throwIfAborted()
    throw toPlaceError(error, what)
  }
}

const mostSecretBytes = 65_536

/** The secret of a source, from its file. */
export async function readSecret(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > mostSecretBytes) throw sourceUnavailable(`${file} is too large for a secret`)
    const secret = (await readFile(file, 'utf8')).trim()
    if (secret !== '') return secret
  } catch (error) {
    throw toPlaceError(error, 'the secret file')
  }
  throw sourceUnavailable(`${file} has no secret`)
}

/** Names of files that are not complete yet, or that nobody sees. */
export function isHidden(name: string): boolean {
  return /^[.~]|\.(?:part|partial|tmp|filepart|crdownload)$/i.test(name)
}
