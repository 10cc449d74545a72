import { isReportArchive } from '../../iati/addresses.js'
import { findFact, recordFact } from '../../platform/database/facts.js'
import { askStatus } from '../../platform/outgoing/http-client.js'
import type { FolderDeps } from '../../release/publication.js'
import { feedDifferences, feedIndexLines } from '../../release/read/feed-differences.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'

export type HubDeps = FolderDeps & {
  /** The address of the hub. */
  readonly hub: string
  /** Of this service, without trailing slash. */
  readonly baseUrl: string
}

const answerMs = 10_000
const topicsAtOnce = 100

/**
 * Tells a WebSub hub which feeds changed since the release that it was told of last, so that it passes them on to who
 * subscribed to them. Throws when it does not answer or refuses; the next call tells it all of that again.
 */
export async function tellHub({ store, feedsDir, clock, hub, baseUrl }: HubDeps, signal: AbortSignal): Promise<string> {
  const releases = createReleaseReader(feedsDir)
  const live = await releases.live()
  const last = await findFact(store.db, 'hub-told')
  if (!live || live.id === last) return 'nothing to tell'
  const tell = async (topics: readonly string[]) => {
    const body = new URLSearchParams({ 'hub.mode': 'publish' })
    for (const topic of topics) body.append('hub.url', baseUrl + topic)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const status = await askStatus(hub, { method: 'POST', headers, body: String(body), totalMs: answerMs, signal })
    if (status > 299) throw new Error(`it answered with status ${status}`)
  }
  let topics: string[] = []
  let count = 0
  for await (const path of changedFeeds(live, last === undefined ? undefined : await releases.byId(last))) {
    count++
    topics.push(path)
    if (topics.length < topicsAtOnce) continue
    await tell(topics)
    topics = []
  }
  if (topics.length > 0) await tell(topics)
  await recordFact(store.db, 'hub-told', live.id, clock())
  return `${count} feeds told`
}

/** Without the previous release, which may have been removed, changes of projects' feeds are unknown. */
async function* changedFeeds(live: ReadableRelease, before: ReadableRelease | undefined): AsyncGenerator<string> {
  const known = new Map(before?.manifest.files.map(({ path, sha256 }) => [path, sha256]))
  for (const { path, sha256 } of live.manifest.files) {
    if (path.endsWith('.atom') && !isReportArchive(path) && known.get(path) !== sha256) yield path
  }
  if (!before) return
  for await (const { path, sha256, before: was } of feedDifferences(live, feedIndexLines(before))) {
    if (sha256 !== undefined && sha256 !== was) yield path
  }
}
