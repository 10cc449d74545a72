import { projectList } from '../wire/names.js'
import { readPage } from '../wire/read/upstream-documents.js'
import { pageSize, projectService } from './sync-projects.js'
import { accept } from './sync-session.js'
import type { UpstreamClient } from './upstream-client.js'

/** How many projects an upstream has, and the most requests that a first sync makes; undefined where its list does not count. */
export async function foreseeFirstSync(
  client: UpstreamClient,
  signal: AbortSignal,
): Promise<{ readonly projects: number; readonly requests: number } | undefined> {
  const options = { accept, signal, tries: 1 }
  const { numberFound: projects } = await client.get(
    `${projectService}/all/projects`,
    { limit: 1 },
    options,
    (answer) => readPage(answer.body, projectList),
  )
  // Reports and gallery of each project, beside its place in a page; a few lists come once.
  return projects === undefined
    ? undefined
    : { projects, requests: 2 * projects + Math.ceil(projects / pageSize) + onceAsked }
}

const onceAsked = 5
