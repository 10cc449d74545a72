import type { FastifyInstance, FastifyReply } from 'fastify'
import { listSources } from '../../catalogue/sql/import-sources.js'
import { findImport, listImports } from '../../catalogue/sql/imports.js'
import { diffReleases } from '../../release/read/diff-releases.js'
import { listReleases, openAnyRelease } from '../../release/read/list-releases.js'
import { listTimedRuns, summarizeDays } from '../../work/sql/runs.js'
import { listSchedules } from '../../work/sql/schedules.js'
import type { Html } from '../portal/html.js'
import { heldList, heldReasons } from '../portal/pages/held.js'
import { en } from '../portal/words/en.js'
import type { ConsoleDeps } from './console-deps.js'
import { consolePage, type Section } from './pages/frame.js'
import { importPage, importsPage } from './pages/imports.js'
import { overviewPage } from './pages/overview.js'
import { queuesPage } from './pages/queues.js'
import { differencePage, releasesPage } from './pages/releases.js'
import { runsPage } from './pages/runs.js'
import { sourcesPage } from './pages/sources.js'

const shownRuns = 200
const shownHeld = 200
const shownImports = 100
const english = { language: 'en', words: en, prefix: '' } as const
const dayMs = 86_400_000
const ledgerDays = 90

/** The pages that show something; each reads what it shows when it is asked for. */
export function pageRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { store, look, clock } = deps
  const send = (reply: FastifyReply, section: Section, title: string, main: Html | readonly Html[]) =>
    reply.type('text/html; charset=utf-8').send(consolePage(title, main, section))

  app.get('/', async (_request, reply) => {
    const [state, mirror, schedules] = await Promise.all([look.status(), look.mirror(), listSchedules(store.db)])
    return send(reply, 'overview', 'Overview', overviewPage({ state, mirror, schedules, now: clock() }))
  })
  app.get('/releases', async (_request, reply) =>
    send(reply, 'releases', 'Releases', releasesPage(await listReleases(deps))),
  )
  app.get<{ Querystring: { from?: string; to?: string } }>('/releases/difference', async (request, reply) => {
    const { from = '', to = '' } = request.query
    const [before, after] = await Promise.all([openAnyRelease(deps.feedsDir, from), openAnyRelease(deps.feedsDir, to)])
    return send(reply, 'releases', 'Difference', differencePage(await diffReleases(before, after)))
  })
  app.get<{ Querystring: { before?: string } }>('/runs', async (request, reply) => {
    const since = new Date(clock().getTime() - ledgerDays * dayMs)
    const before = numberOf(request.query.before)
    const [runs, days] = await Promise.all([
      listTimedRuns(store.db, { since, limit: shownRuns, ...(before !== undefined && { before }) }),
      summarizeDays(store.db, since),
    ])
    return send(
      reply,
      'runs',
      `Runs of ${ledgerDays} days`,
      runsPage({ runs, days, since, hasMore: runs.length === shownRuns }),
    )
  })
  app.get('/held', async (_request, reply) =>
    send(reply, 'held', en.held.title, heldList(english, await look.held(shownHeld))),
  )
  app.get<{ Params: { id: string } }>('/held/:id', async (request, reply) => {
    const project = /^\d{1,15}$/.test(request.params.id) ? await look.heldProject(Number(request.params.id)) : undefined
    if (!project) return reply.callNotFound()
    return send(reply, 'held', project.identifier, heldReasons(english, project))
  })
  app.get<{ Querystring: { before?: string } }>('/imports', async (request, reply) => {
    const before = numberOf(request.query.before)
    const imports = await listImports(store.db, { limit: shownImports, ...(before !== undefined && { before }) })
    return send(reply, 'imports', 'Imports', importsPage(imports, imports.length === shownImports))
  })
  app.get<{ Params: { id: string } }>('/imports/:id', async (request, reply) => {
    const id = numberOf(request.params.id)
    const found = id === undefined ? undefined : await findImport(store.db, id)
    if (!found) return reply.callNotFound()
    return send(reply, 'imports', `Import ${found.id}`, importPage(found))
  })
  app.get('/sources', async (_request, reply) =>
    send(reply, 'sources', 'Sources', sourcesPage(await listSources(store.db))),
  )
  app.get('/queues', async (_request, reply) => {
    const [{ queue }, jobs] = await Promise.all([look.status(), look.jobs()])
    return send(reply, 'queues', 'Queues', queuesPage(queue, jobs))
  })
}

function numberOf(text: string | undefined): number | undefined {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined
}
