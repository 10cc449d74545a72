import { ServiceError } from '../../domain/errors.js'
import { findProjectRow, selectProjectRows } from '../../store/project-pages.js'
import type { Store } from '../../store/store.js'
import type { ProjectView, WireFormat } from '../../store/wire-records.js'
import { projectMapping } from '../../wire/project.js'
import { joinRecords } from '../representations/project-list.js'
import type { ListedPage } from './list-projects.js'
import { projectTextsOf, versionOf } from './ready-texts.js'

/** Identifiers that one request may name; later ones are ignored (wire contract 4.5). */
export const maximumIds = 10

type Wanted = { readonly view: ProjectView; readonly format: WireFormat }

/**
 * The active projects among the ids, in their order. Throws `project-inactive` when every project asked for has become
 * inactive, `not-found` when none is left otherwise (wire contract 4.5).
 */
export async function getProjectsByIds(
  store: Store,
  { ids, view, format }: { ids: readonly number[] } & Wanted,
): Promise<Pick<ListedPage, 'page' | 'version'>> {
  const wanted = [...new Set(ids)].slice(0, maximumIds)
  const text = { view, format, mapping: projectMapping }
  const rows = await selectProjectRows(store.db, wanted, text)
  const active = rows.filter((row) => row.active)
  if (active.length === 0) throw nothingLeft(wanted, rows.length)
  const records = await projectTextsOf(store, text, active)
  const page = { records: joinRecords(format, records), numberFound: records.length }
  return { page, version: versionOf(view, active) }
}

/** One active project's record and, where it is known, what names it. Throws `not-found`, or `project-inactive` (wire contract 4.6). */
export async function getProject(
  store: Store,
  { id, view, format }: { id: number } & Wanted,
): Promise<{ readonly record: string; readonly version: string | undefined }> {
  const text = { view, format, mapping: projectMapping }
  const row = await findProjectRow(store.db, id, text)
  if (!row?.active) throw nothingLeft([id], row ? 1 : 0)
  const [record] = await projectTextsOf(store, text, [row])
  if (record === undefined) throw nothingLeft([id], 0)
  return { record, version: versionOf(view, [row]) }
}

/** The error of projects that cannot be shown: all of them inactive, or at least one never heard of. */
export function nothingLeft(ids: readonly number[], inactive: number): ServiceError {
  const named = `${ids.length === 1 ? 'project' : 'projects'} ${ids.join(', ')}`
  if (inactive === ids.length) {
    return new ServiceError('project-inactive', `${named} ${ids.length === 1 ? 'has' : 'have'} become inactive`)
  }
  return new ServiceError('not-found', `no active project matches ${named}`)
}
