import type { Store } from '../../store/store.js'
import { selectWirePage, type WireFormat } from '../../store/wire-records.js'
import { projectMapping } from '../representations/project.js'
import type { ProjectPage } from '../representations/project-list.js'
import { projectTexts } from './project-texts.js'

/** Records of a list page (wire contract 4.2). */
export const pageSize = 10

export type ListProjects = (input: { nextProjectId: number; format: WireFormat }) => Promise<ProjectPage>

const countRememberedMs = 1_000

/**
 * Lists all projects, inactive ones included, from an inclusive lower bound in id order: one round trip when the texts
 * are there. The total is counted at most once a second, since counting costs more than the page.
 */
export function createProjectList(store: Store, monotonicMs: () => number = () => performance.now()): ListProjects {
  let counted = { numberFound: 0, until: Number.NEGATIVE_INFINITY }
  return async ({ nextProjectId, format }) => {
    const count = counted.until <= monotonicMs()
    const page = await selectWirePage(store.db, {
      from: nextProjectId,
      limit: pageSize,
      format,
      mapping: projectMapping,
      count,
    })
    if (page.numberFound !== undefined) {
      counted = { numberFound: page.numberFound, until: monotonicMs() + countRememberedMs }
    }
    return {
      records: await projectTexts(store, format, page.rows),
      numberFound: counted.numberFound,
      nextProjectId: page.nextProjectId,
    }
  }
}
