import type { OrganisationRecord } from '../../kernel/record.js'
import { saveOrganisationRecords } from '../sql/organisations.js'
import { saveRegions, saveThemeList } from '../sql/reference-lists.js'
import type { SyncProblem } from '../sql/sync-runs.js'
import { countPresent } from '../sql/upstream-projects.js'
import { organisationList } from '../wire/names.js'
import type { ParsedObject, ParsedValue } from '../wire/read/parsed-value.js'
import { parseOrganisationRecord } from '../wire/read/project-record.js'
import { readList, readPage } from '../wire/read/upstream-documents.js'
import { readBulkFile } from './bulk-files.js'
import { refuseEndless } from './refuse-endless.js'
import { pageSize } from './sync-projects.js'
import { accept, type Checkpoint, type SyncSession } from './sync-session.js'

const organisationService = '/public/orgservice/all/organizations'

/** Fetches the lists of themes and regions, where the upstream has them; records name their own too. */
export async function syncReference(session: SyncSession): Promise<void> {
  const themes = await fetchList(session, 'themes', 'theme')
  const regions = await fetchList(session, 'regions', 'region')
  const next: Checkpoint = { ...session.at, phase: 'bulk', cursor: 0 }
  await session.commit(next, async (db) => {
    const named = themes.flatMap(({ id, name }) =>
      isText(id) ? [{ id: id.trim(), name: isText(name) ? name : id.trim() }] : [],
    )
    await saveThemeList(db, named)
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

/** Fetches all organisations page by page, or from the bulk file where the upstream has closed the list. */
export async function syncOrganisations(session: SyncSession): Promise<void> {
  const { client, signal, store } = session.deps
  for (;;) {
    const { at } = session
    const query = { nextOrgId: at.cursor || undefined, limit: pageSize }
    const page = await client.get(organisationService, query, { accept, signal, expected: [404, 410] }, (answer) =>
      answer.status === 200 ? readPage(answer.body, organisationList) : undefined,
    )
    if (!page) return await importOrganisationFile(session)
    refuseEndless(page, at, 'organisation', page.numberFound, at.known ?? (await countPresent(store.db)))
    const walked = at.walked + page.records.length
    const next = page.next === undefined ? afterwards(at) : { ...at, cursor: page.next, walked }
    await writeBatch(session, page.records, next)
    if (page.next === undefined) return
  }
}

function afterwards(at: Checkpoint): Checkpoint {
  return { ...at, phase: 'details', cursor: 0 }
}

async function importOrganisationFile(session: SyncSession): Promise<void> {
  const { at } = session
  const file = { path: `${organisationService}/download`, names: organisationList }
  const reading = await readBulkFile(session, file, (batch) => writeBatch(session, batch, at))
  await session.move(afterwards(at), reading && 'problem' in reading ? [reading.problem] : [])
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
