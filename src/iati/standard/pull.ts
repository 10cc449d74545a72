import { hash, randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { activeCodesOf, type PulledStandard, pulledRecordName, schemaNames, schemaVersion } from './pulled.js'
import { codeListNames } from './standard.js'
import { standardVersion } from './version.js'

/** Where IATI publishes the files of version 2.03. */
const publicAddresses = {
  schemas: 'https://raw.githubusercontent.com/IATI/IATI-Schemas/version-2.03',
  codeLists: 'https://iatistandard.org/reference_downloads/203/codelists/downloads/clv3/json/en',
} as const

export type PullOptions = {
  /** Becomes a link to the folder with the files; the folder of an earlier pull is removed. */
  readonly directory: string
  /** A mirror with `schemas/` and `codelists/` instead of the public addresses. */
  readonly from?: string
  readonly now: Date
  readonly signal: AbortSignal
  /** The bytes at an address; undefined when the server says that there is no such file. */
  readonly download: (address: string, signal: AbortSignal) => Promise<Buffer | undefined>
  /** Throws when the schemas in a folder cannot be used. */
  readonly verify: (directory: string) => Promise<void>
  readonly onProgress?: (done: number, total: number) => void
}

/** What was pulled; `absent` are code lists that the server does not have. */
export type PullResult = { readonly pulled: PulledStandard; readonly absent: readonly string[] }

type Wanted = { readonly name: string; readonly address: string; readonly check: (text: string) => void }

/**
 * Downloads the official schemas and code lists into a new folder and, once all files are checked and synced to disk, makes
 * `directory` a link to it in one step. On any failure the earlier files stay.
 * Throws `standard-unavailable`, `standard-missing` (from `verify`), `storage-failed` or `aborted`.
 */
export async function pullStandard(options: PullOptions): Promise<PullResult> {
  const { directory, from, now, signal, verify } = options
  await refuseForeignFolder(directory)
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const folder = `${directory}-${stamp}-${randomBytes(4).toString('hex')}`
  try {
    for (const part of ['schemas', 'codelists']) await stored(() => mkdir(join(folder, part), { recursive: true }))
    const { files, absent } = await downloadAll(wantedFiles(from), folder, options)
    const pulled: PulledStandard = {
      version: standardVersion,
      pulledAt: `${now.toISOString().slice(0, 19)}Z`,
      from: from === undefined ? Object.values(publicAddresses) : [from],
      files,
    }
    await stored(() => writeFile(join(folder, pulledRecordName), `${JSON.stringify(pulled, undefined, 2)}\n`, newFile))
    await verify(folder)
    signal.throwIfAborted()
    await stored(() => switchTo(folder, directory, now))
    return { pulled, absent }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw signal.aborted ? new ServiceError('aborted', 'the download was interrupted', { cause: error }) : error
  }
}

/** A failure to download the official files. */
export function standardUnavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('standard-unavailable', message, { cause })
}

function wantedFiles(from: string | undefined): Wanted[] {
  const base = from?.replace(/\/+$/, '')
  const schemas = base === undefined ? publicAddresses.schemas : `${base}/schemas`
  const codeLists = base === undefined ? publicAddresses.codeLists : `${base}/codelists`
  return [
    ...schemaNames.map(
      (name): Wanted => ({
        name: `schemas/${name}`,
        address: `${schemas}/${name}`,
        check: (text) => checkSchema(name, text),
      }),
    ),
    ...codeListNames.map(
      (list): Wanted => ({
        name: `codelists/${list}.json`,
        address: `${codeLists}/${list}.json`,
        check: checkCodeList,
      }),
    ),
  ]
}

function checkSchema(name: string, text: string): void {
  if (!/<(?:\w+:)?schema\b/.test(text)) throw new Error('expected an XML Schema, got something else')
  const version = schemaVersion(text)
  // xml.xsd is the W3C's and has no version of IATI.
  if (name !== 'xml.xsd' && version !== standardVersion) {
    throw new Error(`expected version ${standardVersion}, got ${version ?? 'none'}`)
  }
}

function checkCodeList(text: string): void {
  let codes: ReadonlySet<string>
  try {
    codes = activeCodesOf(text)
  } catch (error) {
    throw new Error('expected a code list in JSON, got something else', { cause: error })
  }
  if (codes.size === 0) throw new Error('expected a code list with active codes, got none')
}

const concurrentDownloads = 4

async function downloadAll(
  wanted: readonly Wanted[],
  folder: string,
  { download, signal, onProgress }: PullOptions,
): Promise<{ files: PulledStandard['files']; absent: string[] }> {
  const files = new Map<string, PulledStandard['files'][number]>()
  const absent: string[] = []
  // The first failure aborts the other downloads.
  const failed = new AbortController()
  const ended = AbortSignal.any([signal, failed.signal])
  let done = 0
  const fetchOne = async (one: Wanted): Promise<void> => {
    const bytes = await download(one.address, ended)
    if (bytes) files.set(one.name, await checkAndStore(one, bytes, folder))
    else if (one.name.startsWith('codelists/')) absent.push(one.name)
    else {
      throw standardUnavailable(
        `expected a schema at ${one.address}, got none (the server says that it does not exist)`,
      )
    }
    done += 1
    onProgress?.(done, wanted.length)
  }
  const limit = pLimit(concurrentDownloads)
  const ends = await Promise.allSettled(
    wanted.map((one) =>
      limit(fetchOne, one).catch((error: unknown) => {
        failed.abort()
        throw error
      }),
    ),
  )
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  // Downloads that were aborted because of another one are not the reason.
  const reason = failures.find((error) => !(error instanceof ServiceError && error.code === 'aborted')) ?? failures[0]
  if (reason !== undefined) throw reason
  if (absent.length === codeListNames.length) throw standardUnavailable('expected code lists, got none of them')
  return { files: wanted.flatMap(({ name }) => files.get(name) ?? []), absent: absent.sort() }
}

const newFile = { flag: 'wx', flush: true } as const

async function checkAndStore(
  { name, address, check }: Wanted,
  bytes: Buffer,
  folder: string,
): Promise<PulledStandard['files'][number]> {
  try {
    check(bytes.toString('utf8'))
  } catch (error) {
    throw standardUnavailable(`${address} is not what it should be: ${messageOf(error)}`, error)
  }
  await stored(() => writeFile(join(folder, name), bytes, newFile))
  return { name, bytes: bytes.length, sha256: hash('sha256', bytes) }
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const reason = messageOf(error)
    throw new ServiceError('storage-failed', `the official files could not be stored: ${reason}`, { cause: error })
  }
}

const ownFolder = /-\d{8}T\d{6}Z-[0-9a-f]{8}(?:\.link)?$/

/** Whether a name beside `directory` is one that a pull makes. */
function isOurs(name: string, directory: string): boolean {
  const own = basename(directory)
  return name.startsWith(own) && name.slice(own.length).search(ownFolder) === 0
}

/** Refuses to replace a folder or link that no pull made. */
async function refuseForeignFolder(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => undefined)
  if (!found || (found.isSymbolicLink() && isOurs(await readlink(directory), directory))) return
  const message = `expected nothing, or an earlier pull, at ${directory}, got something of another origin: move it away`
  throw new ServiceError('storage-failed', message)
}

const staleMs = 3_600_000

/** Points the link `directory` to the folder by one rename, then removes the folders of earlier pulls. */
async function switchTo(folder: string, directory: string, now: Date): Promise<void> {
  const before = await readlink(directory).catch(() => undefined)
  const link = `${folder}.link`
  await symlink(basename(folder), link)
  await rename(link, directory)
  const parent = dirname(directory)
  for (const name of await readdir(parent)) {
    if (!isOurs(name, directory) || name === basename(folder)) continue
    // Other folders belong to killed pulls; a young one may belong to a pull that is still running.
    const changed = (await lstat(join(parent, name)).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (name === before || now.getTime() - changed > staleMs) {
      await rm(join(parent, name), { recursive: true, force: true })
    }
  }
}
