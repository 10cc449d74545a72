import { ServiceError } from '../../domain/errors.js'
import type { Store } from '../../store/store.js'
import { selectWireRows, type WireFormat } from '../../store/wire-records.js'
import { projectMapping } from '../../wire/project.js'
import type { ProjectPage } from '../representations/project-list.js'
import { projectTexts } from './project-texts.js'

/** Identifiers that one request may name; later ones are ignored (wire contract 4.5). */
export const maximumIds = 10

/**
 * The active projects among the ids, in their order. Throws `project-inactive` when every project asked for has become
 * inactive, `not-found` when none is left otherwise (wire contract 4.5).
 */
export async function getProjectsByIds(
  store: Store,
  { ids, format }: { ids: readonly number[]; format: WireFormat },
): Promise<ProjectPage> {
  const wanted = [...new Set(ids)].slice(0, maximumIds)
  const rows = await selectWireRows(store.db, { ids: wanted, format, mapping: projectMapping })
  const active = rows.filter((row) => row.active)
  if (active.length === 0) throw nothingLeft(wanted, rows.length)
  const records = await projectTexts(store, format, active)
  return { records, numberFound: records.length }
}

function nothingLeft(ids: readonly number[], inactive: number): ServiceError {
  const named = `${ids.length === 1 ? 'project' : 'projects'} ${ids.join(', ')}`
  if (inactive === ids.length) {
    return new ServiceError('project-inactive', `${named} ${ids.length === 1 ? 'has' : 'have'} become inactive`)
  }
  return new ServiceError('not-found', `no active project matches ${named}`)
}
