import type { SyncProblem } from '../sql/sync-runs.js'
import { countPresent, countVanished, deactivateMirrored, listVanished } from '../sql/upstream-projects.js'
import { projectList } from '../wire/names.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { idOf, readPage } from '../wire/read/upstream-documents.js'
import { readBulkFile } from './bulk-files.js'
import { refuseEndless } from './refuse-endless.js'
import { readProjectRecords, writePage } from './sync-records.js'
import { accept, type Checkpoint, type SyncSession } from './sync-session.js'

// Upstreams that do not know `limit` send 10 (wire.md 4.2).
export const pageSize = 100
// A larger loss than this is held until an operator accepts it.
const maxLossPercent = 10
// A transaction of the upstream may become visible this long after its timestamp.
const overlapMs = 120_000
// The greatest age of a bulk file that states none: made daily, valid for a day (wire.md 4.4).
const bulkAgeMs = 48 * 3_600_000
export const projectService = '/public/projectservice'

/**
 * The instant up to which this run mirrors the upstream's changes: what the upstream itself says (`X-Modified-Until`), else
 * the time of its first answer, less an overlap. Never later than our clock: an upstream whose clock is ahead, and is set
 * right, would hide what changes until then.
 */
export function mirroredUntil({ deps: { client, clock } }: SyncSession): string {
  const now = clock().getTime()
  const { modifiedUntil: stated, firstDate = new Date(now) } = client
  const until = stated ? Math.min(stated.getTime(), now) : Math.min(firstDate.getTime(), now) - overlapMs
  return new Date(until).toISOString()
}

/**
 * Fetches the list of projects page by page from the checkpoint on, the whole list or only what changed. Returns a reason
 * to hold the run when the upstream states far fewer projects than before. Throws `upstream-unusable` for a list that
 * is not in order or does not end.
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
    const known = at.known ?? (await countPresent(store.db))
    refuseEndless(page, at, 'project', page.numberFound ?? at.found, known)
    const next: Checkpoint = {
      ...at,
      known,
      cursor: page.next ?? 0,
      walked: at.walked + page.records.length,
      mirroredUntil: at.mirroredUntil ?? mirroredUntil(session),
      ...(page.numberFound !== undefined && at.since === undefined && { found: page.numberFound }),
    }
    const records = session.careful ? await writeSingly(session, page.records) : page.records
    session.careful = false
    const read = await readProjectRecords(records, session)
    if (next.found !== undefined && page.records.length > 0) {
      session.expectRequests(Math.ceil((next.found - next.walked) / page.records.length))
    }
    if (page.next === undefined) {
      await writePage(session, read, { ...next, phase: afterProjects(at), cursor: 0, walked: 0 })
      return undefined
    }
    await writePage(session, read, next)
  }
}

/** Writes the records of a page one by one, and returns none; a record over which two workers were lost is refused. */
async function writeSingly(session: SyncSession, records: readonly ParsedValue[]): Promise<readonly ParsedValue[]> {
  for (const record of records) {
    const problem = await session.workAlone(`project ${idOf(record) ?? '(without id)'}`)
    if (problem) await session.move(session.at, [problem])
    else await writePage(session, await readProjectRecords([record], session), session.at)
  }
  return []
}

function afterProjects(at: Checkpoint): Checkpoint['phase'] {
  if (at.since === undefined) return 'vanished'
  return at.full ? 'organisations' : 'details'
}

function lossReason(known: number, offered: number): string | undefined {
  const lost = known - offered
  if (lost <= 0 || lost * 100 < known * maxLossPercent) return undefined
  return `the upstream offers ${offered} projects, ${lost} fewer than the ${known} it offered before; \
giving sync --full --accept-loss takes that as it is`
}

/**
 * After a walk of the whole list: deactivates projects that were not in it and that the upstream, asked for them by id,
 * confirms to be gone or inactive. Returns a reason to hold the run when too many are missing.
 */
export async function deactivateVanished(session: SyncSession): Promise<string | undefined> {
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
      async ({ status, body }) => (status === 200 ? (await readPage(body, projectList)).records : []),
    )
    const read = await readProjectRecords(
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
  const phase = session.at.full ? 'organisations' : 'details'
  await session.move({ ...session.at, phase, cursor: 0, walked: 0 })
  return undefined
}

function vanishedProblem(id: number): SyncProblem {
  return { subject: `project ${id}`, field: 'active', expected: 'a project that the upstream still has', got: 'none' }
}

/**
 * Fills an empty mirror from the bulk file, where the upstream offers one; what changed since the file was made follows.
 * A mirror that has projects is walked instead, since the file is older than they are. When the file breaks off, the walk
 * fetches the rest.
 */
export async function importBulkFile(session: SyncSession, supportsModifiedSince: boolean): Promise<void> {
  const walk: Checkpoint = { ...session.at, phase: 'projects', cursor: 0, walked: 0 }
  const file = { path: `${projectService}/all/projects/download`, names: projectList, skip: session.at.cursor }
  const reading = await readBulkFile(session, file, async (batch) => {
    const next = { ...session.at, cursor: session.at.cursor + batch.length }
    await writePage(session, await readProjectRecords(batch, session), next)
  })
  if (reading && 'problem' in reading) return await session.move(walk, [reading.problem])
  // Without `modifiedSince` only a walk of the whole list shows what the file misses.
  if (!reading || !supportsModifiedSince) return await session.move(walk)
  const made = reading.modified ?? new Date(session.deps.clock().getTime() - bulkAgeMs)
  await session.move({ ...walk, since: new Date(made.getTime() - overlapMs).toISOString() })
}
