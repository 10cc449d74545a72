import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import { responseFormat } from '../negotiation.js'
import type { Authenticate } from '../operations/authenticate.js'
import { getProjectsByIds } from '../operations/get-projects-by-ids.js'
import { createProjectList } from '../operations/list-projects.js'
import { cursorOf, idListOf, queryValue } from '../query.js'
import { sendDocument } from '../reply.js'
import { projectListDocument } from '../representations/project-list.js'

/** Public project reads (specification 4.2, 4.3); the key is checked before anything else of the request is read. */
export function projectRoutes(
  app: FastifyInstance,
  { store }: Pick<ApiDeps, 'store'>,
  authenticate: Authenticate,
): void {
  const listProjects = createProjectList(store)

  app.get('/api/public/projectservice/all/projects', async (request, reply) => {
    await authenticate(queryValue(request, 'api_key'))
    const format = responseFormat(request)
    const page = await listProjects({ nextProjectId: cursorOf(request, 'nextProjectId'), format })
    return sendDocument(reply, format, projectListDocument(format, page))
  })

  app.get('/api/public/projectservice/projects/collection/ids', async (request, reply) => {
    await authenticate(queryValue(request, 'api_key'))
    const format = responseFormat(request)
    const page = await getProjectsByIds(store, { ids: idListOf(request, 'projectIds'), format })
    return sendDocument(reply, format, projectListDocument(format, page))
  })
}
