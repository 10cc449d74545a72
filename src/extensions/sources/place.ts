import { readFile, stat } from 'node:fs/promises'
import type { SourceDefinition } from '../../catalogue/sql/import-sources.js'
import { ServiceError } from '../../kernel/errors.js'
import { reasonOf } from '../../platform/outgoing/http-client.js'

/** A file that a place has, and what tells that it is another one than before, where the list shows it. */
export type PlaceFile = { readonly name: string; readonly version?: string | undefined }

/** The content of a file, from its first to its last byte: the chunks throw when anything is missing. */
type PlaceContent = { readonly version: string | undefined; readonly chunks: AsyncIterable<Buffer> }

/** Where the files of a source are. Whatever fails there throws `source-unavailable`, or `address-refused`. */
export type SourcePlace = AsyncDisposable & {
  /** Whether other files may stand beside those that are meant. */
  readonly isFolder: boolean
  /** Its files, in any order. */
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

/**
 * What a text seems to be that is no password: a key, or a file of another kind. It must never be sent to a server. Undefined
 * for what may be a password or a token, which is one line of printable characters.
 */
export function formOfKey(secret: string): string | undefined {
  for (const [pattern, name] of keyForms) {
    const found = pattern.exec(secret)
    if (found) return name(found)
  }
  return undefined
}

const keyForms: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/^PuTTY-User-Key-File-(\d+)/, ([, version]) => `a key of PuTTY, version ${version}`],
  [/^-{4,5} ?BEGIN ([^-\r\n]{1,60}?) ?-{4,5}/, ([, what]) => `a key of the form "${what}"`],
  [/^(ssh-[\w-]+|ecdsa-sha2-[\w-]+|sk-[\w@.-]+) AAAA/, () => 'a public key of SSH'],
  [/^SSH PRIVATE KEY FILE FORMAT/, () => 'a key of SSH 1'],
  [/^AGE-SECRET-KEY-|^age1/, () => 'a key of age'],
  [/^\{.*"kty"/s, () => 'a key in JSON (JWK)'],
  [/^MI[A-Z][A-Za-z0-9+/=]{97,}$/, () => 'a key in Base64 alone'],
  [/[^\P{Cc}\r\n\t]|\uFFFD/u, () => 'no text'],
  [/\p{Cc}/u, () => 'a text of several lines'],
]

/** The secret of a source that is sent as it is: a password or a token. Throws `source-unavailable` for a key. */
export async function readPassword(file: string): Promise<string> {
  const secret = await readSecret(file)
  const form = formOfKey(secret)
  if (form === undefined) return secret
  throw sourceUnavailable(`${file} has ${form}, where a password or a token is expected: it was not sent`)
}

/** The file of a link leads out of its folder, where whoever writes into the folder may have no right to read. */
export function leadsOut(name: string, folder: string): ServiceError {
  return new ServiceError('input-unusable', `${name} is a link that leads out of ${folder}: it is not read`)
}

/** Names of files that are not complete yet, that nobody sees, or that programs keep of an earlier state. */
export function isHidden(name: string): boolean {
  return /^[.~]|~$|\.(?:part|partial|tmp|filepart|crdownload|bak|old|orig)$/i.test(name)
}
