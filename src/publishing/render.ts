import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isoDateOf, isoInstantOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { fromMinorUnits, minorUnitExponent, parseCurrencyCode } from '../domain/money.js'
import type { Notice } from '../domain/notice.js'
import type { ProjectGraph } from '../domain/project.js'
import { projectReportFeed } from '../feeds/atom/report-feed.js'
import { type MappedActivity, newIdentifier, toActivity } from '../feeds/iati/activity.js'
import { inputKey } from '../feeds/iati/mapping.js'
import type { MoneyTotals } from '../feeds/iati/transactions.js'
import { projectGraphs } from '../store/project-graphs.js'
import {
  countStale,
  planStaleRanges,
  type Rendering,
  type StaleCriteria,
  type StaleProject,
  saveRenderings,
  staleProjects,
} from '../store/renderings.js'
import { saveProjectTexts } from '../store/wire-records.js'
import { validateActivity } from '../validation/index.js'
import { projectMapping, projectTexts } from '../wire/project.js'
import { writeElement } from '../xml/writer.js'
import type { PublicationDeps, RenderCounts, RenderStage, RunHandle, Shard, WorkOptions } from './publication.js'

// Batches are small because API and worker may share one event loop, and libxml2 keeps the memory it has taken.
const batchSize = 100
// Findings stored with a rendering; the counts stay exact.
const mostNotices = 20

/** Cuts the stale projects into shards of about `size`, in id order. */
export async function planShards(deps: PublicationDeps, run: RunHandle, size: number): Promise<Shard[]> {
  return await planStaleRanges(deps.store.db, staleCriteria(deps, run), size)
}

/**
 * Maps, checks and stores every stale project of the shard, a batch at a time: each batch is read in one snapshot and
 * saved in one transaction, so an interruption loses at most the batch at hand. Throws `aborted` on the signal.
 */
export async function renderShard(
  deps: PublicationDeps,
  run: RunHandle,
  shard: Shard,
  { signal, onProgress }: WorkOptions,
): Promise<RenderCounts> {
  const stale = staleCriteria(deps, run)
  const expected = onProgress ? await countStale(deps.store.db, stale, shard) : 0
  const total = { rendered: 0, changed: 0, held: 0 }
  for (let after = shard.fromId - 1; ; ) {
    if (signal.aborted) throw new ServiceError('aborted', 'rendering was interrupted; it will be continued')
    const reading = startStage(deps, 'read')
    const batch = await deps.store.snapshot(async (db) => {
      const projects = await staleProjects(db, stale, shard, after, batchSize)
      return {
        projects,
        graphs: await projectGraphs(
          db,
          projects.map((project) => project.projectId),
        ),
      }
    })
    reading?.()
    const last = batch.projects.at(-1)
    if (!last) return total
    const renderings = await renderBatch(deps, run, batch.projects, batch.graphs)
    const makingRecords = startStage(deps, 'feeds')
    // Here, where the graphs are, the API's records cost little; bulk files need all of them.
    const records = batch.graphs.map(projectTexts)
    makingRecords?.()
    const storing = startStage(deps, 'store')
    await deps.store.transaction(async (db) => {
      await saveRenderings(db, renderings, stale.inputKey, run)
      await saveProjectTexts(db, projectMapping, records)
    })
    storing?.()
    deps.onStep?.('rendered')
    total.rendered += renderings.length
    total.changed += renderings.filter((rendering) => rendering.content).length
    total.held += renderings.filter((rendering) => rendering.errors > 0).length
    onProgress?.('render', total.rendered, Math.max(expected, total.rendered))
    after = last.projectId
    await nextTurn()
  }
}

/** Starts the time of a stage; the result ends it. Nothing where nobody listens. */
function startStage({ onStage }: PublicationDeps, stage: RenderStage): (() => void) | undefined {
  if (!onStage) return undefined
  const began = performance.now()
  return () => onStage(stage, performance.now() - began)
}

function staleCriteria(deps: PublicationDeps, run: RunHandle): StaleCriteria {
  return { inputKey: inputKey(deps.mapping), day: isoDateOf(run.startedAt), force: run.force }
}

type Mapped = {
  readonly graph: ProjectGraph
  readonly stale: StaleProject
  readonly activity: MappedActivity
  /** The element's text, still without `last-updated-datetime`. */
  readonly text: string
  readonly notices: Notice[]
}

async function renderBatch(
  deps: PublicationDeps,
  run: RunHandle,
  projects: readonly StaleProject[],
  graphs: readonly ProjectGraph[],
): Promise<Rendering[]> {
  const today = isoDateOf(run.startedAt)
  const { check = validateActivity } = deps
  const byId = new Map(projects.map((project) => [project.projectId, project]))
  const mapped = await flatMapInTurns(graphs, (graph): Mapped[] => {
    const stale = byId.get(graph.project.id)
    if (!stale) return []
    const identifier = stale.identifier ?? newIdentifier(deps.mapping, graph.project.id)
    const mapping = startStage(deps, 'map')
    const activity = toActivity(graph, deps.mapping, today, identifier)
    const text = writeElement(activity.element)
    mapping?.()
    const checking = startStage(deps, 'check')
    const found = check(activity.element, { today, reportingOrgRef: deps.mapping.reportingOrg.ref })
    checking?.()
    return [{ graph, stale, activity, text, notices: [...activity.notices, ...found] }]
  })
  const checkingBySchema = startStage(deps, 'xsd')
  checkBySchema(deps, mapped)
  checkingBySchema?.()
  return await flatMapInTurns(mapped, (one) => {
    const makingFeeds = startStage(deps, 'feeds')
    const rendering = toRendering(deps, run, one)
    makingFeeds?.()
    return [rendering]
  })
}

// As many as take a few milliseconds: the run's lease is renewed, and requests are answered, between two turns.
const activitiesPerTurn = 10

async function flatMapInTurns<T, U>(items: readonly T[], toU: (item: T) => readonly U[]): Promise<U[]> {
  const out: U[] = []
  for (let at = 0; at < items.length; at += activitiesPerTurn) {
    for (const item of items.slice(at, at + activitiesPerTurn)) out.push(...toU(item))
    await nextTurn()
  }
  return out
}

/** The official schema's verdict on the texts, where its files are there. */
function checkBySchema({ xsd }: PublicationDeps, mapped: readonly Mapped[]): void {
  if (!xsd) return
  const verdicts = xsd.validate(
    mapped.map((one) => one.text),
    'activity',
  )
  mapped.forEach((one, index) => {
    for (const notice of verdicts[index] ?? []) one.notices.push({ ...notice, subject: identifierOf(one) })
  })
}

function identifierOf(mapped: Mapped): string {
  return mapped.activity.element.children[0]?.text ?? ''
}

function toRendering(deps: PublicationDeps, run: RunHandle, mapped: Mapped): Rendering {
  const { graph, stale, activity, text, notices } = mapped
  const count = (severity: Notice['severity']) => notices.filter((notice) => notice.severity === severity).length
  const errors = count('error')
  const hash = sha256(text)
  return {
    projectId: graph.project.id,
    version: graph.version,
    identifier: identifierOf(mapped),
    notices: mostSevere(notices),
    noticeCounts: countByCode(notices),
    errors,
    warnings: count('warning'),
    infos: count('info'),
    validUntil: activity.validUntil,
    ...(errors === 0 && hash !== stale.contentHash ? { content: toContent(run, text, hash, activity.totals) } : {}),
    ...feedOf(deps, graph, stale),
  }
}

function toContent(run: RunHandle, text: string, hash: string, totals: MoneyTotals): NonNullable<Rendering['content']> {
  const dated = withLastUpdated(text, run.startedAt)
  return {
    text: dated,
    hash,
    bytes: Buffer.byteLength(dated),
    money: moneyTexts(totals),
    lastUpdatedAt: new Date(isoInstantOf(run.startedAt)),
  }
}

const openTag = '<iati-activity '

/** Adds `last-updated-datetime`, the time of the run in which the content changed (architecture 2.6). */
function withLastUpdated(text: string, at: Date): string {
  if (!text.startsWith(openTag)) throw new Error('an activity must begin with its open tag')
  return `${openTag}last-updated-datetime="${isoInstantOf(at)}" ${text.slice(openTag.length)}`
}

function moneyTexts(totals: MoneyTotals): Record<string, { in: string; out: string }> {
  return Object.fromEntries(
    Object.entries(totals).map(([code, total]) => {
      const currency = parseCurrencyCode(code)
      const places = currency ? minorUnitExponent(currency) : 2
      return [code, { in: fromMinorUnits(total.in, places), out: fromMinorUnits(total.out, places) }]
    }),
  )
}

function feedOf(deps: PublicationDeps, graph: ProjectGraph, stale: StaleProject): Pick<Rendering, 'feed'> {
  const { baseUrl, language, reportingOrg } = deps.mapping
  const feed = projectReportFeed(graph, { baseUrl, language, publisherName: reportingOrg.name })
  if (!feed) return stale.feedHash === undefined ? {} : { feed: 'none' }
  const hash = sha256(feed.text)
  if (hash === stale.feedHash) return {}
  return {
    feed: {
      text: feed.text,
      hash,
      entries: feed.entries,
      bytes: Buffer.byteLength(feed.text),
      updatedAt: feed.updatedAt,
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function countByCode(notices: readonly Notice[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of notices) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

const severityOrder = { error: 0, warning: 1, info: 2 } as const

function mostSevere(notices: readonly Notice[]): Notice[] {
  return [...notices].sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity]).slice(0, mostNotices)
}
