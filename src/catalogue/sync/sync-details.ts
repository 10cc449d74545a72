import { isoDateOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { ImageRecord, ReportRecord } from '../../kernel/record.js'
import { ofEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import { replaceReports } from '../sql/mirrored-reports.js'
import { replaceGalleries } from '../sql/photos.js'
import type { SyncCounts, SyncProblem } from '../sql/sync-runs.js'
import {
  countDetailRequests,
  type DetailTask,
  deactivateMirrored,
  listDetailTasks,
  saveDetailKeys,
} from '../sql/upstream-projects.js'
import type { ParsedObject } from '../wire/read/parsed-value.js'
import { parseImageRecord } from '../wire/read/project-record.js'
import { readReportFeed } from '../wire/read/report-feeds.js'
import { readList } from '../wire/read/upstream-documents.js'
import { accept, type SyncSession } from './sync-session.js'

// Projects whose details are fetched together and written in one transaction.
const batchSize = 20
// Failures in a row that end the sync.
const mostFailuresInARow = 20

type Fetched = {
  readonly task: DetailTask
  readonly gone: boolean
  readonly reports?: readonly ReportRecord[]
  readonly gallery?: readonly ImageRecord[]
  readonly problems: readonly SyncProblem[]
  readonly failure?: ServiceError
}

/**
 * Fetches reports and galleries of the projects whose records say that these have changed since they were last fetched.
 * A failed fetch is recorded and repeated by the next sync; a project that answers 410 becomes inactive.
 */
export async function syncDetails(session: SyncSession): Promise<void> {
  const { store } = session.deps
  session.expectRequests(await countDetailRequests(store.db, session.at.cursor))
  let failures = 0
  for (let singles = session.careful ? batchSize : 0; ; singles--) {
    const tasks = await listDetailTasks(store.db, session.at.cursor, singles > 0 ? 1 : batchSize)
    const last = tasks.at(-1)
    if (!last) return
    const problem = singles > 0 ? await session.workAlone(`project ${last.projectId}`) : undefined
    if (problem) {
      await session.move({ ...session.at, cursor: last.projectId }, [problem])
      continue
    }
    const fetched = await Promise.all(tasks.map((task) => fetchDetails(session, task)))
    await session.commit({ ...session.at, cursor: last.projectId }, async (db) => ({
      counts: await writeDetails(db, fetched),
      problems: fetched.flatMap(({ problems }) => problems),
    }))
    for (const { failure } of fetched) {
      failures = failure ? failures + 1 : 0
      if (failure && failures >= mostFailuresInARow) throw failure
    }
  }
}

async function fetchDetails(session: SyncSession, task: DetailTask): Promise<Fetched> {
  const { client, signal } = session.deps
  const path = `/public/projectservice/projects/${task.projectId}`
  const subject = `project ${task.projectId}`
  const expected = [404, 410]
  const problems: SyncProblem[] = []
  let gone = false
  let reports: readonly ReportRecord[] | undefined
  let gallery: readonly ImageRecord[] | undefined
  try {
    if (task.reportsKey !== undefined) {
      const atom = { accept: 'application/atom+xml, application/json;q=0.5', signal, expected }
      const answer = await client.get(`${path}/reports`, {}, atom, async ({ status, body }) =>
        status === 200 ? await readReportFeed(body, isoDateOf(session.deps.clock())) : status,
      )
      if (typeof answer === 'number') gone = answer === 410
      else {
        reports = answer.reports
        problems.push(...answer.problems.map((problem) => ({ subject: `reports of ${subject}`, ...problem })))
      }
    }
    if (task.galleryKey !== undefined && !gone) {
      const answer = await client.get(
        `${path}/imagegallery`,
        {},
        { accept, signal, expected },
        async ({ status, body }) => (status === 200 ? await readList(body, 'images', 'image') : status),
      )
      if (typeof answer === 'number') gone = answer === 410
      else gallery = withoutMain(pictures(answer, task.title), task.mainImage)
    }
    return { task, gone, problems, ...(reports && { reports }), ...(gallery && { gallery }) }
  } catch (error) {
    signal.throwIfAborted()
    // A refusal means that the key is no longer accepted, so it ends the sync.
    if (!(error instanceof ServiceError) || error.code === 'upstream-refused') throw error
    const problem = { subject, field: 'details', expected: 'reports and gallery', got: error.message.slice(0, 300) }
    return { task, gone: false, problems: [problem], failure: error }
  }
}

/** The pictures of a gallery; a title equal to the project's is dropped, since it would not follow the project's changes. */
function pictures(images: readonly ParsedObject[], projectTitle: string): readonly ImageRecord[] {
  return images.flatMap((value) => {
    const image = parseImageRecord(value)
    if (image?.title !== projectTitle) return image ?? []
    const { title: _, ...untitled } = image
    return [untitled]
  })
}

/** The first picture of a gallery usually repeats the main image (wire.md 4.7). */
function withoutMain(images: readonly ImageRecord[], main: string | undefined): readonly ImageRecord[] {
  const [first, ...rest] = images
  return first && (first.wireId === 0 || (main !== undefined && first.renditions.original === main)) ? rest : images
}

async function writeDetails(db: Db, fetched: readonly Fetched[]): Promise<Partial<SyncCounts>> {
  const good = fetched.filter(({ failure }) => !failure)
  const there = good.filter(({ gone }) => !gone)
  const gone = good.filter((one) => one.gone).map(({ task }) => task.projectId)
  const reports = there.flatMap(({ task: { projectId }, reports }) => (reports ? [{ projectId, reports }] : []))
  const galleries = there.flatMap(({ task: { projectId }, gallery }) =>
    gallery ? [{ projectId, images: gallery }] : [],
  )
  await saveDetailKeys(db, ofEach(there, 'task'))
  return {
    reports: await replaceReports(db, reports),
    galleries: await replaceGalleries(db, galleries),
    deactivated: gone.length > 0 ? await deactivateMirrored(db, gone) : 0,
  }
}
