import { selectFeatured } from '../../../catalogue/sql/ready-texts/featured-projects.js'
import { findProjectRows } from '../../../catalogue/sql/ready-texts/project-pages.js'
import type { ProjectTextRow, ProjectView, WireFormat } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { joinRecords, type ListPage } from '../../../catalogue/wire/write/list.js'
import { projectRecordVersion } from '../../../catalogue/wire/write/project.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Store } from '../../../platform/database/store.js'
import { toNumber } from '../query.js'
import type { ListedPage } from './list-projects.js'
import { createReadTogether } from './read-together.js'
import { projectTextsOf, versionOf } from './ready-texts.js'
import type { Spoken } from './spoken.js'

/** Identifiers that one request may name; later ones are ignored (wire.md 4.5). */
const maximumIds = 10

type Wanted = { readonly view: ProjectView; readonly format: WireFormat }

/**
 * The active projects among the ids, in their order. Throws `project-inactive` when every project asked for has become
 * inactive, `not-found` when none is left otherwise (wire.md 4.5).
 */
export async function getProjectsByIds(
  store: Store,
  { ids, view, format }: { ids: readonly string[] } & Wanted,
  spoken?: Spoken,
): Promise<ListedPage> {
  const wanted = [...new Set(ids)].slice(0, maximumIds)
  const text = { view, format, recordVersion: projectRecordVersion }
  const rows = await findProjectRows(store.db, wanted.map(toNumber), text)
  const active = wanted.flatMap((id) => rows.get(toNumber(id)) ?? []).filter((row) => row.active)
  if (active.length === 0) throw nothingLeft(wanted, rows.size)
  const records = await projectTextsOf(store, text, active, spoken)
  const page = { records: joinRecords(format, records), numberFound: records.length }
  return { page, version: versionOf(view, active) }
}

const featuredProjects = 10
const hourMs = 3_600_000

/** The featured projects of the current hour (UTC): ten, or all active ones where there are fewer (wire.md 4.4). */
export async function getFeaturedProjects(
  store: Store,
  at: Date,
  { view, format }: Wanted,
  spoken?: Spoken,
): Promise<ListPage> {
  const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs)
  const text = { view, format, recordVersion: projectRecordVersion }
  const rows = await selectFeatured(store.db, hour, featuredProjects, text)
  const records = await projectTextsOf(store, text, rows, spoken)
  return { records: joinRecords(format, records), numberFound: records.length }
}

/** One active project's record and, where it is known, the name of its version. */
type SingleProject = { readonly record: string; readonly version: string | undefined }

export type GetProject = (input: { readonly id: number } & Wanted, spoken?: Spoken) => Promise<SingleProject>

// A larger statement would delay its first project until its last.
const projectsTogether = 8

/** Finds one active project. Throws `not-found`, or `project-inactive` (wire.md 4.6). */
export function createProjectFinder(store: Store): GetProject {
  const readTogether = createReadTogether<number, ProjectTextRow>(projectsTogether)
  return async ({ id, view, format }, spoken) => {
    const text = { view, format, recordVersion: projectRecordVersion }
    const row = await readTogether(`${view} ${format}`, id, (ids) => findProjectRows(store.db, ids, text))
    if (!row?.active) throw nothingLeft([id], row ? 1 : 0)
    const [record] = await projectTextsOf(store, text, [row], spoken)
    if (record === undefined) throw nothingLeft([id], 0)
    return { record, version: versionOf(view, [row]) }
  }
}

/** The error of projects that cannot be shown: all of them are inactive, or at least one is unknown. */
export function nothingLeft(ids: readonly (number | string)[], inactive: number): ServiceError {
  const named = `${ids.length === 1 ? 'project' : 'projects'} ${ids.map((id) => String(id).slice(0, 64)).join(', ')}`
  if (inactive === ids.length) {
    return new ServiceError('project-inactive', `${named} ${ids.length === 1 ? 'has' : 'have'} become inactive`)
  }
  return new ServiceError('not-found', `no active project matches ${named}`)
}
