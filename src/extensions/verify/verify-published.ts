import { ServiceError } from '../../kernel/errors.js'
import {
  firstProblem,
  inText,
  listType,
  objectType,
  ofOthers,
  optional,
  readObject,
  type TypeOf,
  textType,
  utcType,
  wholeType,
} from '../../kernel/read-object.js'
import { textLike } from '../../kernel/values.js'
import { HttpClient, jsonOf } from '../../platform/outgoing/http-client.js'
import {
  type AddressAnswer,
  chainAddress,
  connectionLimits,
  maxChainBytes,
  readAddress,
  readText,
} from './read-address.js'
import { ActivitySample, findAltered, isEntry, readEntry } from './verify-activities.js'
import { type ChainFinding, type ChainVerdict, strictJson, verifyChain } from './verify-chain.js'

/** What can be wrong with a published set. */
type FindingCode =
  | 'tampered'
  | 'missing'
  | 'mixed'
  | 'rollback'
  | 'frozen'
  | 'headers'
  | 'malformed'
  | ChainFinding['code']

type VerifyFinding = {
  readonly code: FindingCode
  readonly address: string
  readonly expected: string
  readonly got: string
}

/** What one verification keeps for the next one to compare with. */
export type SeenRelease = {
  readonly release: string
  readonly run: number
  readonly manifestSha256: string
  readonly recordSha256?: string | undefined
  /** When the publisher had last stated that the set was up to date. */
  readonly checkedAt?: string | undefined
}

export type Verification = {
  readonly release: string
  readonly run: number
  readonly generated: string
  /** Hours since the set was last known to be up to date. */
  readonly ageHours: number
  readonly files: number
  readonly bytes: number
  /** Single activities that were compared with the index, and how many there are. */
  readonly activities: { readonly compared: number; readonly of: number }
  /** What is not signed. */
  readonly notCompared: readonly string[]
  readonly findings: readonly VerifyFinding[]
  readonly seen: SeenRelease
}

export type VerifyOptions = {
  /** Where the set is: the address of the service, without trailing slash. */
  readonly baseUrl: string
  readonly maxAgeHours: number
  readonly now: Date
  readonly last: SeenRelease | undefined
  /** The publisher's public key (PEM): the set must be signed, and the newest of an unbroken chain. */
  readonly publicKey?: string
  /** How many single activities are compared with the index; 100 when absent. */
  readonly sample?: number
  /** How long it may take. */
  readonly maxSeconds: number
  readonly signal: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
}

// Far more than the set of a million projects has.
const maxManifestBytes = 8_000_000
const maxFiles = 10_000
const maxSetBytes = 100_000_000_000
// Checking stops at so many findings.
const maxFindings = 1_000
const maxFindingText = 200
// A set that changes while it is read is read again.
const maxReads = 3

type Verifying = VerifyOptions & { readonly client: HttpClient }

/**
 * Reads a whole published set as a consumer would, manifest first, and reports everything that disagrees with the
 * manifest. Throws `input-unusable` when the manifest cannot be read, or the set exceeds a limit.
 */
export async function verifyPublished(options: VerifyOptions): Promise<Verification> {
  const { baseUrl, maxSeconds, signal } = options
  const timeOut = AbortSignal.timeout(maxSeconds * 1000)
  await using client = new HttpClient(connectionLimits)
  try {
    return await verifyWithin({ ...options, client, signal: AbortSignal.any([signal, timeOut]) })
  } catch (error) {
    if (!timeOut.aborted || signal.aborted) throw error
    const message = `${baseUrl} cannot be verified within ${maxSeconds} seconds; give it more with --max-time`
    throw new ServiceError('input-unusable', message, { cause: error })
  }
}

async function verifyWithin(options: Verifying): Promise<Verification> {
  for (let read = 1; ; read++) {
    const { manifest, sha256 } = await readManifest(options)
    const findings: VerifyFinding[] = []
    const tell: Tell = (code, address, expected, got) =>
      findings.push({ code, address, expected: cut(String(expected)), got: cut(String(got)) })
    const verdict = await chainVerdict(options, sha256)
    for (const { code, expected, got } of verdict?.findings ?? []) tell(code, chainAddress, expected, got)
    const ageHours = verdict
      ? hoursSince(options, [manifest.generated, verdict.checkedAt])
      : await age(options, manifest)
    if (ageHours > options.maxAgeHours) {
      tell('frozen', manifestAddress, `an age of at most ${options.maxAgeHours} hours`, `${ageHours.toFixed(1)} hours`)
    }
    checkHistory(options.last, manifest, sha256, tell)
    let bytes = 0
    for (const [index, file] of manifest.files.entries()) {
      options.onProgress?.(index, manifest.files.length)
      await checkFile(options, manifest, file, tell)
      bytes += file.bytes
      if (findings.length >= maxFindings) break
    }
    const feeds = await checkProjectFeeds(options, manifest, findings, tell)
    const activities = await checkActivities(options, manifest, findings, tell)
    const moved = findings.length > 0 && (await readManifest(options)).sha256 !== sha256
    if (moved && read < maxReads) continue
    return {
      release: manifest.release,
      run: manifest.run,
      generated: manifest.generated,
      ageHours: Math.round(ageHours * 10) / 10,
      files: manifest.files.length + feeds.length,
      bytes: bytes + feeds.reduce((sum, feed) => sum + feed.bytes, 0),
      activities,
      notCompared,
      findings,
      seen: {
        release: manifest.release,
        run: manifest.run,
        manifestSha256: sha256,
        recordSha256: verdict?.recordSha256 ?? options.last?.recordSha256,
        checkedAt: verdict?.checkedAt ?? options.last?.checkedAt,
      },
    }
  }
}

function cut(text: string): string {
  return text.length > maxFindingText ? `${text.slice(0, maxFindingText)}...` : text
}

type Tell = (code: FindingCode, address: string, expected: string | number, got: string | number | undefined) => void

const manifestAddress = '/feeds/manifest.json'
const projectFeedIndexAddress = '/feeds/projects/index.json'
const feedsAtOnce = 8
const activityIndexAddress = '/iati/index.json'
const notCompared = ['the pages for people', '/feeds/status.json', '/api/']
const path = inText(textLike(/^\/(?!\/)[\w./-]*$/, 'a path'))
const count = wholeType()
const sha256 = inText(textLike(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal'))
const manifestShape = objectType({
  release: textType(1),
  run: count,
  generated: utcType,
  files: listType(
    objectType({
      path,
      immutablePath: path,
      mediaType: textType(),
      records: count,
      bytes: count,
      gzipBytes: count,
      sha256,
      lastModified: utcType,
    }),
  ),
})
const feedPath = inText(textLike(/^\/feeds\/projects\/\d+\/reports\.atom$/, 'the path of a feed of a project'))
const feedShape = objectType({ path: feedPath, bytes: count, sha256, lastModified: utcType })
const feedsShape = objectType({ feeds: listType(feedShape) })
type SetManifest = TypeOf<typeof manifestShape>
type SetFile = SetManifest['files'][number]
type SetFeed = TypeOf<typeof feedShape>

async function readManifest({
  baseUrl,
  client,
  signal,
}: Verifying): Promise<{ manifest: SetManifest; sha256: string }> {
  const url = new URL(baseUrl + manifestAddress)
  const read = await readAddress(client, url, { maxBytes: maxManifestBytes, keep: true, signal })
  if (read.status !== 200) throw new ServiceError('input-unusable', `${url} answers ${read.status}, expected 200`)
  if (read.isCut) {
    throw new ServiceError('input-unusable', `${url} is larger than ${maxManifestBytes} bytes, which no manifest needs`)
  }
  const document = strictJson(read.text)
  if (document === undefined) {
    throw new ServiceError('input-unusable', `${url} is not a manifest: expected JSON with each member once`)
  }
  const { value: manifest, problems } = readObject(manifestShape, document, ofOthers)
  if (problems) throw new ServiceError('input-unusable', `${url} is not a manifest: ${firstProblem(problems)}`)
  const { files } = manifest
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (files.length > maxFiles || bytes > maxSetBytes) {
    const limits = `at most ${maxFiles} files of ${maxSetBytes} bytes are verified`
    throw new ServiceError('input-unusable', `${url} names ${files.length} files of ${bytes} bytes; ${limits}`)
  }
  return { manifest, sha256: read.sha256 }
}

const checkedAddress = '/feeds/checked.json'

/** What the key says of the set; undefined without a key. */
async function chainVerdict(
  { baseUrl, publicKey, last, client, signal }: Verifying,
  manifestSha256: string,
): Promise<ChainVerdict | undefined> {
  if (publicKey === undefined) return undefined
  const textAt = (path: string, maxBytes: number) => readText(client, baseUrl + path, maxBytes, signal)
  const texts = { releases: await textAt(chainAddress, maxChainBytes), checked: await textAt(checkedAddress, 10_000) }
  return verifyChain(texts, manifestSha256, publicKey, last)
}

/** Hours since the latest of these instants. */
function hoursSince({ now }: VerifyOptions, instants: readonly (string | undefined)[]): number {
  const times = instants.flatMap((instant) => (instant === undefined ? [] : Date.parse(instant)))
  return (now.getTime() - Math.max(...times)) / 3_600_000
}

const statusShape = objectType({ runs: listType(objectType({ state: textType(), finishedAt: optional(utcType) })) })

/** Hours since the release was made, or since a later run found nothing changed. */
async function age(options: Verifying, manifest: SetManifest): Promise<number> {
  const { baseUrl, client, signal } = options
  const instants = [manifest.generated]
  const url = new URL(`${baseUrl}/feeds/status.json`)
  const read = await readAddress(client, url, { maxBytes: 1_000_000, keep: true, signal })
  const status = readObject(statusShape, read.status === 200 ? jsonOf(read.text ?? '') : undefined, ofOthers).value
  for (const { state, finishedAt } of status?.runs ?? []) {
    if ((state === 'published' || state === 'unchanged') && finishedAt) instants.push(finishedAt)
  }
  return hoursSince(options, instants)
}

function checkHistory(last: SeenRelease | undefined, manifest: SetManifest, sha256: string, tell: Tell): void {
  if (!last) return
  if (manifest.run < last.run) tell('rollback', manifestAddress, `run ${last.run} or later`, `run ${manifest.run}`)
  if (manifest.release === last.release && sha256 !== last.manifestSha256) {
    tell('tampered', manifestAddress, `sha256 ${last.manifestSha256} as before`, `sha256 ${sha256}`)
  }
}

async function checkFile(options: Verifying, manifest: SetManifest, file: SetFile, tell: Tell): Promise<void> {
  if (file.immutablePath !== `/feeds/releases/${manifest.release}${file.path}`) {
    tell('mixed', file.path, `an address of release ${manifest.release}`, file.immutablePath)
  }
  const marker = markerOf(file)
  const at = (address: string) => new URL(options.baseUrl + address)
  const read = { maxBytes: file.bytes + 1, signal: options.signal }
  const immutable = await readAddress(options.client, at(file.immutablePath), {
    ...read,
    ...(marker !== undefined && { marker }),
  })
  if (!checkAnswer(file.immutablePath, file, manifest, immutable, tell)) return
  if (marker !== undefined && immutable.occurrences !== file.records) {
    tell('tampered', file.immutablePath, `${file.records} records`, immutable.occurrences)
  }
  const gzip = await readAddress(options.client, at(file.immutablePath), { ...read, encoding: 'gzip' })
  const twin = `${file.immutablePath} (gzip)`
  if (gzip.status !== 200) tell('missing', twin, 'status 200', gzip.status)
  else if (gzip.sha256 !== file.sha256) tell('tampered', twin, `sha256 ${file.sha256}`, gzip.sha256)
  else if (gzip.headers['content-encoding'] === 'gzip' && file.gzipBytes > 0 && gzip.wireBytes !== file.gzipBytes) {
    tell('tampered', twin, `${file.gzipBytes} bytes`, gzip.wireBytes)
  }
  const live = await readAddress(options.client, at(file.path), read)
  checkAnswer(file.path, file, manifest, live, tell)
  const head = await readAddress(options.client, at(file.path), { ...read, method: 'HEAD' })
  for (const name of ['etag', 'last-modified', 'content-length', 'content-type', 'x-release']) {
    if (head.headers[name] !== live.headers[name]) {
      tell('headers', file.path, `${name} ${live.headers[name]} of GET`, `${head.headers[name]} of HEAD`)
    }
  }
}

/** Compares the feed of each project with its entry in the index, whose hash the manifest has. Returns the entries. */
async function checkProjectFeeds(
  options: Verifying,
  manifest: SetManifest,
  findings: readonly VerifyFinding[],
  tell: Tell,
): Promise<readonly SetFeed[]> {
  const index = manifest.files.find((file) => file.path === projectFeedIndexAddress)
  if (!index || findings.length >= maxFindings) return []
  const { client, baseUrl, signal } = options
  const read = (address: string, maxBytes: number, keep = false) =>
    readAddress(client, new URL(baseUrl + address), { maxBytes, keep, signal })
  const { sha256, text = '' } = await read(index.immutablePath, index.bytes + 1, true)
  // Otherwise the finding is that of the index.
  if (sha256 !== index.sha256) return []
  const { value, problems } = readObject(feedsShape, { feeds: jsonOf(text) }, ofOthers)
  if (problems) {
    tell('malformed', index.path, 'a list of feeds of projects', firstProblem(problems))
    return []
  }
  const { feeds } = value
  for (let from = 0; from < feeds.length && findings.length < maxFindings; from += feedsAtOnce) {
    options.onProgress?.(manifest.files.length + from, manifest.files.length + feeds.length)
    const answers = feeds
      .slice(from, from + feedsAtOnce)
      .map(async (feed) => ({ feed, answer: await read(feed.path, feed.bytes + 1) }))
    // Findings come in the order of the index, whichever answer is first.
    for (const { feed, answer } of await Promise.all(answers)) checkAnswer(feed.path, feed, manifest, answer, tell)
  }
  return feeds
}

/** Compares a random sample of activities with the index, whose hash the manifest has. Returns how many. */
async function checkActivities(
  { client, baseUrl, signal, sample: size = 100 }: Verifying,
  manifest: SetManifest,
  findings: readonly VerifyFinding[],
  tell: Tell,
): Promise<Verification['activities']> {
  const index = manifest.files.find((file) => file.path === activityIndexAddress)
  if (!index || findings.length >= maxFindings) return { compared: 0, of: 0 }
  const sample = new ActivitySample(size)
  const { sha256, headers } = await readAddress(client, new URL(baseUrl + index.immutablePath), {
    ...{ maxBytes: index.bytes + 1, signal },
    onLine: (line) => isEntry(line) && sample.offer(line),
  })
  // Otherwise the finding is that of the index. An object store has no address for each activity.
  if (sha256 !== index.sha256 || isOfObjectStore(headers)) return { compared: 0, of: sample.of }
  for (const line of sample.lines) {
    const entry = readEntry(line)
    if (!entry) {
      tell('malformed', index.path, 'an activity with its hash', line)
      continue
    }
    const altered = await findAltered(entry, (address, limits) =>
      readAddress(client, new URL(baseUrl + address), { ...limits, signal }),
    )
    if (!altered) continue
    const { address, answer, expected } = altered
    const release = answer.headers['x-release']
    if (answer.status !== 200) tell('missing', address, 'status 200', answer.status)
    else if (release !== undefined && release !== manifest.release)
      tell('mixed', address, `release ${manifest.release}`, release)
    else tell('tampered', address, expected, `sha256 ${answer.sha256} of the document`)
  }
  return { compared: sample.lines.length, of: sample.of }
}

// An object store makes tags and dates of its own.
function isOfObjectStore(headers: AddressAnswer['headers']): boolean {
  return Object.keys(headers).some((name) => /^x-\w+-meta-sha256$/.test(name))
}

/** Compares an answer with the manifest; false when comparing further makes no sense. */
function checkAnswer(address: string, file: SetFeed, manifest: SetManifest, read: AddressAnswer, tell: Tell): boolean {
  if (read.status !== 200) {
    tell('missing', address, 'status 200', read.status)
    return false
  }
  const release = read.headers['x-release']
  if (release !== undefined && release !== manifest.release) {
    tell('mixed', address, `release ${manifest.release}`, release)
    return false
  }
  if (read.bytes !== file.bytes)
    tell('tampered', address, `${file.bytes} bytes`, read.bytes > file.bytes ? 'more' : read.bytes)
  else if (read.sha256 !== file.sha256) tell('tampered', address, `sha256 ${file.sha256}`, read.sha256)
  if (isOfObjectStore(read.headers)) return true
  const tag = read.headers.etag
  if (tag !== undefined && tag !== `"${file.sha256}"`) tell('headers', address, `etag "${file.sha256}"`, tag)
  const modified = read.headers['last-modified']
  if (modified === undefined || Date.parse(modified) !== Date.parse(file.lastModified)) {
    tell('headers', address, `last-modified ${new Date(file.lastModified).toUTCString()}`, modified)
  }
  return true
}

/** A text that occurs once per record; undefined for files whose records cannot be counted so. */
function markerOf({ path: address }: SetFile): string | undefined {
  if (/^\/iati\/activities(-\d+)?\.xml$/.test(address)) return '<iati-activity '
  if (address === '/iati/organisations.xml') return '<iati-organisation '
  if (address === '/feeds/reports.atom') return '<entry>'
  if (address === projectFeedIndexAddress) return '"sha256":'
  return undefined
}
