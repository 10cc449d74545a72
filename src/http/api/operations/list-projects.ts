import {
  isShared,
  type PageQuery,
  type ProjectPageRows,
  type ProjectScope,
  type ProjectSelection,
  selectProjectIds,
  selectProjectPages,
} from '../../../catalogue/sql/ready-texts/project-pages.js'
import type { ProjectView, WireFormat } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { joinRecords, type ListPage } from '../../../catalogue/wire/write/list.js'
import { projectIdRecord, projectRecordVersion } from '../../../catalogue/wire/write/project.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Store } from '../../../platform/database/store.js'

import { createReadTogether } from './read-together.js'
import { recordsOf } from './ready-texts.js'
import type { Spoken } from './spoken.js'

/** Which page of which list; `nextProjectId` is an inclusive lower bound. */
type ProjectListInput = ProjectSelection & {
  readonly nextProjectId: number
  readonly limit: number
  readonly view: ProjectView
  readonly format: WireFormat
}

export type ListProjects = (input: ProjectListInput, spoken?: Spoken) => Promise<ListedPage>

/** A page and, where they are known, the name of its version and the instant for the next `modifiedSince`. */
export type ListedPage = {
  readonly page: ListPage
  readonly version?: string | undefined
  readonly modifiedUntil?: Date | undefined
}

// A larger statement would keep one connection busy while others idle, and fill the driver's memory.
const pagesTogether = 8
const countRememberedMs = 1_000
const countsRememberedMax = 1_000

/**
 * Lists projects in the order of ids, with inactive ones unless `activeOnly`: one round trip when all texts are stored. The
 * total of a scope is counted at most once a second, since counting costs more than the page. Throws `not-found` for an
 * unknown theme or organisation.
 */
export function createProjectList(store: Store, monotonicMs: () => number = () => performance.now()): ListProjects {
  const counts = new Map<string, { found: number | undefined; againAt: number }>()
  const readTogether = createReadTogether<number, ProjectPageRows>(pagesTogether)
  const read = async (name: string, query: PageQuery, from: number) => {
    const select = (all: readonly number[]) => selectProjectPages(store.db, query, all)
    return isShared(query) ? await readTogether(name, from, select) : (await select([from])).get(from)
  }
  return async (input, spoken) => {
    const { scope, activeOnly, modifiedSince, limit, view, format } = input
    const name = `${JSON.stringify(scope)} ${activeOnly}`
    const known = modifiedSince ? undefined : counts.get(name)
    const count = known?.found === undefined || known.againAt <= monotonicMs()
    // Set before the answer, so that only one of many concurrent requests counts.
    if (known && count) known.againAt = monotonicMs() + countRememberedMs
    const text = { view, format, recordVersion: projectRecordVersion }
    const query = { scope, activeOnly, modifiedSince, limit, count, text }
    const page = await read(`${name} ${count} ${view} ${format}`, query, input.nextProjectId)
    if (!page?.scopeKnown) throw unknownScope(scope)
    if (page.numberFound !== undefined && !modifiedSince) {
      if (counts.size >= countsRememberedMax) counts.clear()
      counts.set(name, { found: page.numberFound, againAt: monotonicMs() + countRememberedMs })
    }
    const numberFound = page.numberFound ?? known?.found ?? 0
    const { nextProjectId: next, modifiedUntil } = page
    const render = async (ids: readonly number[]) => {
      return { page: { records: await recordsOf(store, text, ids, spoken), numberFound, next }, modifiedUntil }
    }
    if ('body' in page.records) {
      const { body, versions } = page.records
      const ids = versions.split(',').map((one) => Number.parseInt(one, 10))
      const spokenTexts = await spoken?.projects(store.db, versions === '' ? [] : ids)
      if (spokenTexts && spokenTexts.size > 0) return await render(ids)
      const version = `${projectRecordVersion} ${view} ${versions} ${numberFound} ${next}`
      return { page: { records: body, numberFound, next }, version, modifiedUntil }
    }
    return await render(page.records.ids)
  }
}

/** The ids of all selected projects, ascending, as records without other fields (wire.md 4.4). */
export async function listProjectIds(
  store: Store,
  format: WireFormat,
  selection: ProjectSelection,
): Promise<ListedPage> {
  const { ids, ...rest } = await selectProjectIds(store.db, selection)
  const all = ids === '' ? [] : ids.split(',')
  const records = all.map((id) => projectIdRecord(format, id))
  return { page: { records: joinRecords(format, records), numberFound: all.length }, ...rest }
}

function unknownScope(scope: ProjectScope): ServiceError {
  const what = scope.of === 'theme' || scope.of === 'organisation' ? `${scope.of} ${String(scope.id).slice(0, 64)}` : ''
  return new ServiceError('not-found', `there is no ${what}`)
}
