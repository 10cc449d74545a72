import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listAccounts } from '../../accounts/sql/account-administration.js'
import { listKeys } from '../../accounts/sql/api-keys.js'
import { listAudit } from '../../accounts/sql/audit-events.js'
import { listSources } from '../../catalogue/sql/import-sources.js'
import { findHeldProject, listHeldProjects, ruleOf } from '../../cli/wiring/held-projects.js'
import { lookAtMirror } from '../../cli/wiring/runs.js'
import type { Html } from '../../http/pages/html.js'
import { parseIsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { findTestAlarm } from '../../platform/alarms.js'
import { diffReleases } from '../../release/read/diff-releases.js'
import { listReleases, openAnyRelease } from '../../release/read/list-releases.js'
import { heldRules } from '../../release/sql/renderings.js'
import { isFinished } from '../../work/run.js'
import { listRunLines } from '../../work/sql/run-lines.js'
import { findRuns, getRun, type RunState, summarizeDays } from '../../work/sql/runs.js'
import { listSchedules } from '../../work/sql/schedules.js'
import { mayImport } from './access.js'
import type { ConsoleDeps } from './console-deps.js'
import { type FormTokens, givenNumber } from './forms.js'
import { accountsPage } from './pages/accounts.js'
import { auditPage } from './pages/audit.js'
import { explainedPage } from './pages/explained.js'
import { countingPage, factsPage } from './pages/facts.js'
import { liveSeconds, readAgain, type Section } from './pages/frame.js'
import { heldList, heldReasons } from './pages/held.js'
import { dayChoices, doingOfJob, doingOfRun, doingOfSource, doingOfSync, overviewPage } from './pages/overview.js'
import { queuesPage } from './pages/queues.js'
import { differencePage, releasesPage } from './pages/releases.js'
import { runPage, runsPage } from './pages/runs.js'
import { sourcesPage } from './pages/sources.js'

const shownRuns = 200
const shownDoing = 50
const ever = new Date(0)
const shownLines = 500
const shownHeld = 200
const dayMs = 86_400_000
const ledgerDays = 90
const auditDays = 90
const shownEvents = 500

/** The pages that show something; each reads what it shows when it is asked for. */
export function pageRoutes(app: FastifyInstance, deps: ConsoleDeps, tokens: FormTokens): void {
  const { store, look, clock, runtime } = deps
  const send = tokens.send.bind(tokens)

  /** Sends a page that says when it was read, and that a person may have read again by itself. */
  const sendLive = (request: FastifyRequest, reply: FastifyReply, section: Section, title: string, main: Html[]) => {
    const url = new URL(request.url, 'http://console')
    const isLive = url.searchParams.get('live') === 'yes'
    for (const name of ['live', 'done', 'mark']) url.searchParams.delete(name)
    if (isLive) reply.header('refresh', String(liveSeconds))
    return send(reply, section, title, [...main, readAgain(clock(), url.pathname + url.search, isLive)])
  }

  app.get<{ Querystring: Query<'days'> }>('/', async (request, reply) => {
    const now = clock()
    const days = dayChoices.find((one) => String(one) === request.query.days) ?? 1
    const since = new Date(now.getTime() - days * dayMs)
    const inState = (state: RunState, from: Date) => findRuns(store.db, { since: from, state }, shownDoing)
    const [state, known, schedules, test, sources, running, queued, failedRuns] = await Promise.all([
      ...([look.status(), lookAtMirror(store.db, runtime.config.upstreamUrl, now)] as const),
      ...([listSchedules(store.db), findTestAlarm(store.db)] as const),
      ...([
        listSources(store.db),
        inState('running', ever),
        inState('queued', ever),
        inState('failed', since),
      ] as const),
    ])
    const jobs = state.queue.reachable ? (await look.jobs()).failed : []
    const mirror = known.upstream === undefined ? undefined : known
    const syncs = mirror?.runs ?? []
    const doing = [
      ...[...running, ...queued].map(doingOfRun),
      ...syncs.filter((one) => !isFinished(one)).map(doingOfSync),
      ...sources.filter(({ isRunning }) => isRunning).map(doingOfSource),
    ]
    const failed = [
      ...failedRuns.map(doingOfRun),
      ...syncs.filter((one) => one.state === 'failed').map(doingOfSync),
      ...sources.filter(({ outcome }) => outcome === 'failed').map(doingOfSource),
      ...jobs.map(doingOfJob),
    ].filter((one) => one.since !== undefined && one.since >= since)
    const page = overviewPage({ state, mirror, schedules, test, now, doing, failed, days })
    return sendLive(request, reply, 'overview', 'Overview', page)
  })
  app.get('/releases', async (_request, reply) =>
    send(reply, 'releases', 'Releases', releasesPage(await listReleases(deps))),
  )
  app.get<{ Querystring: { from?: string; to?: string } }>('/releases/difference', async (request, reply) => {
    const { from = '', to = '' } = request.query
    const [before, after] = await Promise.all([openAnyRelease(deps.feedsDir, from), openAnyRelease(deps.feedsDir, to)])
    return send(reply, 'releases', 'Difference', differencePage(await diffReleases(before, after)))
  })
  app.get<{ Querystring: Query<'before' | 'state' | 'trigger' | 'since' | 'until'> }>(
    '/runs',
    async (request, reply) => {
      const { before, state, trigger } = request.query
      const asked = daysOf(request.query)
      const since = asked.from ?? new Date(clock().getTime() - ledgerDays * dayMs)
      const filter = {
        since,
        until: asked.to,
        before: givenNumber(before),
        state: given(state),
        trigger: given(trigger),
      }
      const [runs, days] = await Promise.all([findRuns(store.db, filter, shownRuns), summarizeDays(store.db, since)])
      const page = runsPage({
        runs,
        days,
        filter,
        hasMore: runs.length === shownRuns,
        since: asked.since,
        until: asked.until,
      })
      return sendLive(request, reply, 'runs', asked.since === '' ? `Runs of ${ledgerDays} days` : 'Runs', page)
    },
  )
  app.get<{ Querystring: Query<'id'> }>('/run', async (request, reply) =>
    reply.redirect(`/runs/${encodeURIComponent(request.query.id ?? '')}`),
  )
  app.get<{ Params: { id: string } }>('/runs/:id', async (request, reply) => {
    const id = givenNumber(request.params.id)
    if (id === undefined) return reply.callNotFound()
    const page = runPage(await getRun(store.db, id), await listRunLines(store.db, id, shownLines))
    return sendLive(request, reply, 'runs', `Run ${id}`, page)
  })
  app.get<{ Querystring: Query<'rule' | 'after'> }>('/held', async (request, reply) => {
    const rule = given(request.query.rule)
    const filter = { rule, after: givenNumber(request.query.after) }
    const [{ count, projects }, byRule] = await Promise.all([
      listHeldProjects(store.db, shownHeld, filter),
      heldRules(store.db),
    ])
    const rules = byRule.map((one) => ({ ...one, rule: ruleOf(one.code) ?? '' }))
    const page = heldList({ count, projects, rules, rule, hasMore: projects.length === shownHeld })
    return send(reply, 'held', 'Held projects', page)
  })
  app.get<{ Params: { id: string } }>('/held/:id', async (request, reply) => {
    const id = givenNumber(request.params.id)
    const project = id === undefined ? undefined : await findHeldProject(store.db, id)
    if (!project) return reply.callNotFound()
    return send(reply, 'held', project.identifier, heldReasons(project))
  })
  app.get<{ Params: { id: string } }>('/explain/:id', async (request, reply) => {
    const id = givenNumber(request.params.id)
    const explained = id === undefined ? undefined : await deps.explain(id)
    if (!explained) return reply.callNotFound()
    return send(reply, 'facts', explained.identifier, explainedPage(explained))
  })
  app.get('/facts', async (_request, reply) => {
    const facts = await deps.facts()
    if ('facts' in facts) return send(reply, 'facts', 'Facts that nobody states', factsPage(facts))
    return send(reply.header('refresh', '5'), 'facts', 'Facts that nobody states', countingPage(facts.done))
  })
  app.get('/sources', async (request, reply) =>
    send(reply, 'sources', 'Sources', sourcesPage(await listSources(store.db), mayImport(request))),
  )
  app.get('/queues', async (request, reply) => {
    const [{ queue }, jobs] = await Promise.all([look.status(), look.jobs()])
    return sendLive(request, reply, 'queues', 'Queues', queuesPage(queue, jobs))
  })
  app.get<{ Querystring: Query<'action' | 'words' | 'since' | 'until'> }>('/audit', async (request, reply) => {
    const asked = daysOf(request.query)
    const since = asked.from ?? new Date(clock().getTime() - auditDays * dayMs)
    const [action, words] = [given(request.query.action), given(request.query.words)]
    const events = await listAudit(store.db, { since, limit: shownEvents, action, words, until: asked.to })
    const page = auditPage({
      ...{ events, action, words: words ?? '', days: auditDays, most: shownEvents },
      ...{ since: asked.since, until: asked.until },
    })
    return send(reply, 'audit', 'Audit trail', page)
  })
  app.get('/accounts', async (_request, reply) => {
    const [accounts, keys] = await Promise.all([listAccounts(store.db), listKeys(store.db)])
    return send(reply, 'accounts', 'Accounts and keys', accountsPage(accounts, keys, clock()))
  })
}

type Query<Names extends string> = Readonly<Partial<Record<Names, string>>>

/** A field of a filter that was filled in, once. */
function given(text: unknown): string | undefined {
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, 200) : undefined
}

/** The days that a list is limited to: as a form shows them, and the instants. Throws `request-invalid`. */
function daysOf(query: Query<'since' | 'until'>) {
  const [since = '', until = ''] = [given(query.since), given(query.until)]
  const instant = (name: string, day: string, after: number) => {
    if (day === '') return undefined
    if (parseIsoDate(day) === undefined)
      throw new ServiceError('request-invalid', `${name}: expected a day such as 2026-11-01; got: ${day}`)
    return new Date(Date.parse(`${day}T00:00:00Z`) + after)
  }
  return { since, until, from: instant('since', since, 0), to: instant('until', until, dayMs) }
}
