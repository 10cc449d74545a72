import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import type { Manifest } from '../../../src/release/read/manifest.js'

/** What readers do while releases follow each other, and what they have seen. */
export type ReadersReport = {
  /** Answers read to their end. */
  readonly reads: number
  /** Files that the fetcher downloaded because they had changed. */
  readonly fetched: number
  /** Sets read by their manifest. */
  readonly sets: number
  /** Downloads resumed with If-Range: carried on, or begun again because another release was live. */
  readonly resumed: { readonly carriedOn: number; readonly restarted: number }
  /** Different releases that readers were answered from. */
  readonly releases: number
  /** Everything that was torn, mixed or missing; empty when all was well. */
  readonly faults: readonly string[]
}

const addresses = ['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom', '/feeds/manifest.json']

const mostFaults = 100

type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: Buffer }

/**
 * Reads a published set in every way that its consumers do, while `publish` makes one release after the other:
 * `plain` readers at random addresses, a fetcher that compares headers, a reader that starts at the manifest, one that
 * resumes its downloads and one so slow that every download lasts over a release. A fault is told, never thrown.
 */
export async function followReleases(options: {
  readonly baseUrl: string
  readonly releases: number
  readonly plain: number
  readonly random: () => number
  readonly publish: (round: number) => Promise<void>
}): Promise<ReadersReport> {
  const { baseUrl, random } = options
  const agent = new Agent({ connections: options.plain + 20, pipelining: 1 })
  const faults: string[] = []
  const seen = new Set<string>()
  const counts = { reads: 0, fetched: 0, sets: 0, carriedOn: 0, restarted: 0 }
  let round = 0
  let ended = false

  const get = async (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET', ms = 60_000) =>
    toAnswer(await request(baseUrl + path, { method, headers, dispatcher: agent, signal: AbortSignal.timeout(ms) }))
  /** What is wrong with an answer that must be a whole file of one release. */
  const examine = (what: string, answer: Answer, expected = hashIn(answer.headers.etag)) => {
    counts.reads++
    const release = answer.headers['x-release'] ?? ''
    seen.add(release)
    if (answer.status !== 200) return void faults.push(`${what}: ${answer.status}`)
    if (Number(answer.headers['content-length']) !== answer.body.length) faults.push(`${what}: not as long as it says`)
    const bytes = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.body) : answer.body
    if (sha256(bytes) !== expected) faults.push(`${what}: other bytes than its ETag says, of release ${release}`)
    const rounds = new Set(bytes.toString('latin1').match(/Round \d+/g) ?? [])
    if (rounds.size > 1) faults.push(`${what}: mixed of ${[...rounds].join(' and ')}`)
  }
  const goOn = async (work: () => Promise<void>, pauseMs: number) => {
    while (!ended) {
      await work().catch((error: unknown) => faults.push(`failed: ${error instanceof Error ? error.message : error}`))
      await sleep(random() * pauseMs)
    }
  }
  const nextRelease = async () => {
    for (const before = round; round === before && !ended; ) await sleep(5)
  }

  // `nextRelease` ends after the switch by a moment; who asks in that moment has the new release already.
  const releaseAfter = async (release: string | undefined) => {
    while (!ended && (await get('/iati/activities.xml', {}, 'HEAD')).headers['x-release'] === release) await sleep(20)
  }

  const readPlainly = async () => {
    const path = addresses[Math.floor(random() * addresses.length)] ?? ''
    examine(path, await get(path, random() < 0.5 ? { 'accept-encoding': 'gzip' } : {}))
  }

  // What the registry's fetcher does: HEAD within 10 s, compare both headers, GET within 25 s when one differs.
  const known = new Map<string, string>()
  const fetchChanged = async () => {
    for (const path of addresses.slice(0, 3)) {
      const head = await get(path, {}, 'HEAD', 10_000)
      if (head.status !== 200) faults.push(`HEAD ${path}: ${head.status}`)
      if (`${head.headers.etag} ${head.headers['last-modified']}` === known.get(path)) continue
      const answer = await get(path, {}, 'GET', 25_000)
      examine(`fetch of ${path}`, answer)
      known.set(path, `${answer.headers.etag} ${answer.headers['last-modified']}`)
      counts.fetched++
    }
  }

  const readSet = async () => {
    const answer = await get('/feeds/manifest.json')
    examine('manifest', answer)
    const manifest = JSON.parse(answer.body.toString('utf8')) as Manifest
    if (manifest.release !== answer.headers['x-release']) faults.push('the manifest is of another release than it says')
    // Slowly, so that releases go by meanwhile.
    if (random() < 0.5) await nextRelease()
    for (const file of manifest.files) {
      const part = await get(file.immutablePath)
      examine(file.immutablePath, part, file.sha256)
      if (part.headers['x-release'] !== manifest.release) faults.push(`${file.immutablePath} is of another release`)
    }
    counts.sets++
  }

  const resume = async () => {
    const path = '/iati/activities.xml'
    const half = await get(path, { range: 'bytes=0-4999' })
    if (half.status !== 206) return void faults.push(`first part of ${path}: ${half.status}`)
    // The first download waits for another release, so that one begins again however few releases there are.
    if (counts.restarted === 0 || random() < 0.7) await releaseAfter(half.headers['x-release'])
    const etag = half.headers.etag ?? ''
    const rest = await get(path, { range: 'bytes=5000-', 'if-range': etag })
    if (rest.status === 200) {
      counts.restarted++
      examine(`restart of ${path}`, rest)
      if (rest.headers.etag === etag) faults.push(`${path} began again without having changed`)
      return
    }
    counts.carriedOn++
    if (rest.status !== 206) faults.push(`second part of ${path}: ${rest.status}`)
    if (rest.headers.etag !== etag) faults.push(`second part of ${path} is of another file`)
    if (sha256(Buffer.concat([half.body, rest.body])) !== hashIn(etag)) faults.push(`the parts of ${path} do not fit`)
  }

  const readSlowly = async () => {
    const answer = await request(`${baseUrl}/iati/activities.xml`, { dispatcher: agent })
    const chunks: Buffer[] = []
    for await (const chunk of answer.body) {
      if (chunks.length === 0) await nextRelease()
      chunks.push(chunk as Buffer)
    }
    examine('slow download', { ...toHead(answer), body: Buffer.concat(chunks) })
  }

  const readers = [
    ...Array.from({ length: options.plain }, () => goOn(readPlainly, 1500)),
    goOn(fetchChanged, 50),
    goOn(readSet, 20),
    goOn(readSet, 20),
    goOn(resume, 20),
    goOn(readSlowly, 20),
  ]
  try {
    for (let release = 1; release <= options.releases; release++) {
      await options.publish(release)
      round++
      const reads = counts.reads
      // Everyone gets to see every release; when nothing can be read any more there is no use in going on.
      while (counts.reads < reads + options.plain && faults.length < mostFaults) await sleep(5)
      if (faults.length >= mostFaults) break
    }
  } finally {
    ended = true
    await Promise.all(readers)
    await agent.close()
  }
  const { carriedOn, restarted, ...rest } = counts
  return { ...rest, resumed: { carriedOn, restarted }, releases: seen.size, faults }
}

async function toAnswer(answer: Dispatcher.ResponseData): Promise<Answer> {
  return { ...toHead(answer), body: Buffer.from(await answer.body.arrayBuffer()) }
}

function toHead({ statusCode, headers }: Dispatcher.ResponseData) {
  return { status: statusCode, headers: headers as Record<string, string> }
}

/** The hash that a tag names: `"<sha256>"`, or `"<sha256>-gz"` for the same bytes compressed. */
function hashIn(etag: string | undefined): string {
  return /^"([0-9a-f]{64})(-gz)?"$/.exec(etag ?? '')?.[1] ?? 'no tag'
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
