import type { Store } from '../../store/store.js'
import { selectWirePage, type WireFormat } from '../../store/wire-records.js'
import { projectMapping } from '../../wire/project.js'
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
  let numberFound: number | undefined
  let countAgainAt = Number.NEGATIVE_INFINITY
  return async ({ nextProjectId, format }) => {
    // Set before the answer is there, so that of many requests at once only one counts.
    const count = numberFound === undefined || countAgainAt <= monotonicMs()
    if (count) countAgainAt = monotonicMs() + countRememberedMs
    const page = await selectWirePage(store.db, {
      from: nextProjectId,
      limit: pageSize,
      format,
      mapping: projectMapping,
      count,
    })
    numberFound = page.numberFound ?? numberFound ?? 0
    return {
      records: await projectTexts(store, format, page.rows),
      numberFound,
      nextProjectId: page.nextProjectId,
    }
  }
}
