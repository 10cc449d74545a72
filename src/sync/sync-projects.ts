import { ServiceError } from '../domain/errors.js'
import { inBatches } from '../import/record-batches.js'
import type { SyncProblem } from '../store/runs/sync-runs.js'
import { countPresent, countVanished, deactivateMirrored, listVanished } from '../store/sync/upstream-projects.js'
import { projectList } from '../wire/names.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { idOf, type Page, readDownloadLink, readPage, unusable } from '../wire/read/upstream-documents.js'
import { xmlRecords } from '../wire/read/xml-records.js'
import { readProjectRecords, writePage } from './sync-records.js'
import type { Checkpoint, SyncSession } from './sync-session.js'

/** Both formats are read; JSON is the cheaper one. */
export const accept = 'application/json, application/xml;q=0.9'
/** Asked for where the upstream knows `limit`; others send 10 whatever is asked (wire.md 4.2). */
export const pageSize = 100
/** An upstream that offers so much less than before is not believed without a person. */
const maxLossPercent = 10
// The overlap that transactions of the upstream may need to become visible.
const overlapMs = 120_000
// What a link's file may be old when nothing says how old it is (wire.md 4.4: made daily, valid for a day).
const bulkAgeMs = 48 * 3_600_000
const projectService = '/public/projectservice'

/**
 * Up to when the upstream's changes are mirrored once this run is done: what the upstream itself says
 * (`X-Modified-Until`), else its clock when it was first asked, less an overlap.
 */
export function mirroredUntil({ deps: { client, clock } }: SyncSession): string {
  return (client.modifiedUntil ?? new Date((client.firstDate ?? clock()).getTime() - overlapMs)).toISOString()
}

/**
 * Walks the list of projects from the checkpoint on, whole or only what changed, page by page. Returns a reason when the
 * run is to be held: the upstream says it has far fewer projects than before. Throws `upstream-unusable` for a list
 * without end or order.
 */
export async function walkProjects(session: SyncSession): Promise<string | undefined> {
  const { client, signal, store, run } = session.deps
  for (;;) {
    const { at } = session
    const query = { nextProjectId: at.cursor || undefined, limit: pageSize, modifiedSince: at.since }
    const page = await client.get(`${projectService}/all/projects`, query, { accept, signal }, (answer) =>
      readPage(answer.body, projectList),
    )
    if (at.since === undefined && at.walked === 0 && page.numberFound !== undefined && !run.acceptLoss) {
      const reason = lossReason(await countPresent(store.db), page.numberFound)
      if (reason !== undefined) return reason
    }
    refuseEndless(page, at)
    const next: Checkpoint = {
      ...at,
      cursor: page.next ?? 0,
      walked: at.walked + page.records.length,
      mirroredUntil: at.mirroredUntil ?? mirroredUntil(session),
      ...(page.numberFound !== undefined && at.since === undefined && { found: page.numberFound }),
    }
    const read = readProjectRecords(page.records, session)
    if (page.next === undefined) {
      await writePage(session, read, { ...next, phase: afterProjects(at), cursor: 0 })
      return undefined
    }
    await writePage(session, read, next)
  }
}

function afterProjects(at: Checkpoint): Checkpoint['phase'] {
  if (at.since === undefined) return 'vanished'
  return at.full ? 'organisations' : 'details'
}

/** The cursor is an inclusive lower bound over ascending ids: anything else would never end, or skip projects. */
function refuseEndless(page: Page, at: Checkpoint): void {
  const ids = page.records.flatMap((record) => idOf(record) ?? [])
  const early = ids.find((id) => id < at.cursor)
  if (early !== undefined) throw unusable(`project ${early} on the page that begins at ${at.cursor}`)
  if (page.next === undefined) return
  const last = Math.max(at.cursor, ...ids)
  if (page.next <= last) throw unusable(`the page that begins at ${at.cursor} with the next one at ${page.next}`)
  if (page.records.length === 0) throw unusable(`an empty page at ${at.cursor} that has a next one`)
  const found = page.numberFound ?? at.found
  const walked = at.walked + page.records.length
  // Projects are added while we walk; twice as many as there are is no addition.
  if (found !== undefined && walked > found * 2 + 1000)
    throw unusable(`${walked} of ${found} projects, and a next page`)
}

function lossReason(known: number, offered: number): string | undefined {
  const lost = known - offered
  if (lost <= 0 || lost * 100 < known * maxLossPercent) return undefined
  return `the upstream offers ${offered} projects, ${lost} fewer than the ${known} it offered before; \
giving sync --full --accept-loss takes that as it is`
}

/**
 * After a whole walk: makes projects inactive that it has not met and that the upstream confirms to be gone or inactive
 * when asked for them by id. Returns a reason when so many are missing that the run is to be held.
 */
export async function settleVanished(session: SyncSession): Promise<string | undefined> {
  const { client, signal, store, run } = session.deps
  if (session.at.cursor === 0 && !run.acceptLoss) {
    const { known, vanished } = await countVanished(store.db, session.runId)
    const reason = lossReason(known, known - vanished)
    if (reason !== undefined) return reason
  }
  for (;;) {
    const { at } = session
    const ids = await listVanished(store.db, session.runId, at.cursor, 10)
    const last = ids.at(-1)
    if (last === undefined) break
    const found = await client.get(
      `${projectService}/projects/collection/ids`,
      { projectIds: ids.join(',') },
      { accept, signal, expected: [404, 410] },
      ({ status, body }) => (status === 200 ? readPage(body, projectList).records : []),
    )
    const read = readProjectRecords(
      found.filter((record) => ids.includes(idOf(record) ?? 0)),
      session,
    )
    const next = { ...at, cursor: last }
    if (read.ids.length > 0) await writePage(session, read, { ...at, cursor: at.cursor })
    await session.commit(next, async (db) => {
      const gone = ids.filter((id) => !read.ids.includes(id))
      const deactivated = await deactivateMirrored(db, gone)
      return { counts: { deactivated }, problems: gone.map(vanishedProblem) }
    })
  }
  await session.move({ ...session.at, phase: session.at.full ? 'organisations' : 'details', cursor: 0 })
  return undefined
}

function vanishedProblem(id: number): SyncProblem {
  return { subject: `project ${id}`, field: 'active', expected: 'a project that the upstream still has', got: 'none' }
}

/**
 * Fills an empty mirror from the bulk file, where the upstream offers one; what changed since the file was made follows.
 * A mirror that holds something is walked instead: the file is older than what the mirror has. A file that breaks off is
 * no harm: the walk fetches the rest.
 */
export async function takeBulk(session: SyncSession, understandsSince: boolean): Promise<void> {
  const { client, signal, clock } = session.deps
  const walk: Checkpoint = { ...session.at, phase: 'projects', cursor: 0, walked: 0 }
  const link = await findBulkLink(session, `${projectService}/all/projects/download`)
  if (link === undefined) return await session.move(walk)
  try {
    const { chunks, modified } = await client.stream(link, signal)
    const skip = session.at.cursor
    let met = skip
    for await (const batch of inBatches(recordsAfter(xmlRecords(toBuffers(chunks)), skip))) {
      met += batch.length
      await writePage(session, readProjectRecords(batch, session), { ...session.at, cursor: met })
    }
    const made = modified ?? new Date(clock().getTime() - bulkAgeMs)
    // Where changes cannot be asked for, only the walk tells what the file misses.
    await session.move(understandsSince ? { ...walk, since: new Date(made.getTime() - overlapMs).toISOString() } : walk)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ServiceError) || !brokenBulk.has(error.code)) throw error
    await session.move(walk, { counts: {}, problems: [bulkProblem('bulk file of projects', error)] })
  }
}

/** The records of a file from the one after `skip` on. */
export async function* recordsAfter(
  records: AsyncIterable<{ readonly value: ParsedValue }>,
  skip: number,
): AsyncGenerator<ParsedValue> {
  let met = 0
  for await (const { value } of records) if (++met > skip) yield value
}

export const brokenBulk: ReadonlySet<string> = new Set([
  'upstream-unavailable',
  'upstream-unusable',
  'upstream-refused',
  'address-refused',
  'request-malformed',
  'request-too-large',
  'input-unusable',
])

export function bulkProblem(subject: string, error: ServiceError): SyncProblem {
  return { subject, field: 'file', expected: 'a file that can be read to its end', got: error.message.slice(0, 300) }
}

/** The link that a `download` operation answers with; undefined where it is not offered. */
export async function findBulkLink(session: SyncSession, path: string): Promise<string | undefined> {
  const { client, signal } = session.deps
  try {
    return await client.get(path, {}, { accept, signal, expected: [400, 404, 410], attempts: 1 }, ({ status, body }) =>
      status === 200 ? readDownloadLink(body) : undefined,
    )
  } catch (error) {
    // It is only an offer: one that is broken or not ready yet is none.
    if (error instanceof ServiceError && brokenBulk.has(error.code)) return undefined
    throw error
  }
}

export async function* toBuffers(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
}
