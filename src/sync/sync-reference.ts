import { ServiceError } from '../domain/errors.js'
import type { OrganisationRecord } from '../domain/record.js'
import { inBatches } from '../import/record-batches.js'
import { saveOrganisationRecords } from '../store/catalogue/organisations.js'
import { saveRegions, saveThemes } from '../store/catalogue/reference-lists.js'
import type { SyncProblem } from '../store/runs/sync-runs.js'
import { organizationList } from '../wire/names.js'
import type { ParsedObject, ParsedValue } from '../wire/read/parsed-value.js'
import { parseOrganisationRecord } from '../wire/read/project-record.js'
import { idOf, readList, readPage, unusable } from '../wire/read/upstream-documents.js'
import { xmlRecords } from '../wire/read/xml-records.js'
import { accept, brokenBulk, bulkProblem, findBulkLink, pageSize, recordsAfter, toBuffers } from './sync-projects.js'
import type { Checkpoint, SyncSession } from './sync-session.js'

const organisationService = '/public/orgservice/all/organizations'

/** Fetches themes and regions, both small and whole; an upstream without them is none the worse: records name theirs. */
export async function syncReference(session: SyncSession): Promise<void> {
  const themes = await fetchList(session, 'themes', 'theme')
  const regions = await fetchList(session, 'regions', 'region')
  const next: Checkpoint = { ...session.at, phase: 'bulk', cursor: 0 }
  await session.commit(next, async (db) => {
    const named = themes.flatMap(({ id, name }) =>
      isText(id) ? [{ id: id.trim(), name: isText(name) ? name : id.trim() }] : [],
    )
    await saveThemes(db, named)
    await saveRegions(
      db,
      regions.flatMap(({ name }) => (isText(name) ? [name] : [])),
    )
    return { counts: { pages: 2 } }
  })
}

async function fetchList(session: SyncSession, wrapper: string, name: string): Promise<ParsedObject[]> {
  const { client, signal } = session.deps
  const options = { accept, signal, expected: [400, 404, 410] }
  return await client.get(`/public/projectservice/${wrapper}`, {}, options, ({ status, body }) =>
    status === 200 ? readList(body, wrapper, name) : [],
  )
}

/** Fetches all organisations, page by page; where the upstream has closed that list, from its bulk file. */
export async function syncOrganisations(session: SyncSession): Promise<void> {
  const { client, signal } = session.deps
  for (;;) {
    const { at } = session
    const query = { nextOrgId: at.cursor || undefined, limit: pageSize }
    const page = await client.get(organisationService, query, { accept, signal, expected: [404, 410] }, (answer) =>
      answer.status === 200 ? readPage(answer.body, organizationList) : undefined,
    )
    if (!page) return await takeOrganisationFile(session)
    const ids = page.records.flatMap((record) => idOf(record) ?? [])
    const early = ids.find((id) => id < at.cursor)
    if (early !== undefined) throw unusable(`organisation ${early} on the page that begins at ${at.cursor}`)
    if (page.next !== undefined && (page.next <= Math.max(at.cursor, ...ids) || ids.length === 0)) {
      throw unusable(`the page of organisations that begins at ${at.cursor} with the next one at ${page.next}`)
    }
    await writeBatch(session, page.records, page.next === undefined ? afterwards(at) : { ...at, cursor: page.next })
    if (page.next === undefined) return
  }
}

function afterwards(at: Checkpoint): Checkpoint {
  return { ...at, phase: 'details', cursor: 0 }
}

async function takeOrganisationFile(session: SyncSession): Promise<void> {
  const { client, signal } = session.deps
  const { at } = session
  const link = await findBulkLink(session, `${organisationService}/download`)
  if (link === undefined) return await session.move(afterwards(at))
  try {
    const { chunks } = await client.stream(link, signal)
    const organisations = xmlRecords(toBuffers(chunks), organizationList)
    for await (const batch of inBatches(recordsAfter(organisations, 0))) await writeBatch(session, batch, at)
    await session.move(afterwards(at))
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ServiceError) || !brokenBulk.has(error.code)) throw error
    const problems = [bulkProblem('bulk file of organisations', error)]
    await session.move(afterwards(at), { counts: {}, problems })
  }
}

async function writeBatch(session: SyncSession, records: readonly ParsedValue[], next: Checkpoint): Promise<void> {
  const organisations = new Map<number, OrganisationRecord>()
  const problems: SyncProblem[] = []
  for (const value of records) {
    const reading = parseOrganisationRecord(value)
    if ('record' in reading) organisations.set(reading.record.id, reading.record)
    else {
      const subject = `organisation ${reading.recordId ?? '(without id)'}`
      problems.push(...reading.problems.map((problem) => ({ subject, ...problem })))
    }
  }
  await session.commit(next, async (db) => {
    const foreign = await saveOrganisationRecords(db, [...organisations.values()], 'upstream')
    const refused = foreign.map((id) => ({
      subject: `organisation ${id}`,
      field: 'id',
      expected: 'an id that is new or from upstream',
      got: "one of the operator's own",
    }))
    return {
      counts: { pages: 1, organisations: organisations.size - foreign.length },
      problems: [...problems, ...refused],
    }
  })
}

function isText(value: ParsedValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
