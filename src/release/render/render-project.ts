import { hash } from 'node:crypto'
import type { StoredTexts } from '../../catalogue/sql/ready-texts/ready-texts.js'
import { projectTexts } from '../../catalogue/wire/write/project.js'
import { projectReportFeed, toFeedConfig } from '../../iati/atom/report-feed.js'
import { type MappedActivity, newIdentifier, toActivity } from '../../iati/mapping/activity.js'
import { readKept } from '../../iati/mapping/kept.js'
import { mappingNotices } from '../../iati/mapping/notices.js'
import type { MoneyTotals } from '../../iati/mapping/transactions.js'
import { activityChecks, type RecordShape } from '../../iati/validation/index.js'
import { type IsoDate, isoDateOf, isoInstantOf, parseWireDateTime } from '../../kernel/dates.js'
import { fromMinorUnits, minorUnitExponent, parseCurrencyCode } from '../../kernel/money.js'
import { hasError, type Notice, summarizeNotices } from '../../kernel/notice.js'
import type { ProjectGraph } from '../../kernel/project.js'
import type { Element } from '../../kernel/xml/element.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { createYielder, inTurns } from '../../kernel/yielder.js'
import type { RenderDeps } from '../publication.js'
import { toEntry } from '../read/activity-entry.js'
import type { Rendering } from '../sql/save-renderings.js'
import type { StaleProject } from '../sql/stale-projects.js'
import { activityRowsSteps, rowsFormat } from '../tables/table-pieces.js'
import { startStage } from './stages.js'

// Notices stored with a rendering; the counts stay exact.
const maxNotices = 20

/**
 * A project with all of its texts. It does not refer to its graph or elements, hundreds of kilobytes that are freed before
 * the next project is mapped; buffers are outside the garbage collected heap.
 */
export type MappedProject = {
  readonly stale: StaleProject
  readonly version: number
  readonly identifier: string
  /** The activity in UTF-8, still without `last-updated-datetime`. */
  readonly text: Buffer
  /** Notices of the mapping and of our checks. */
  readonly notices: readonly Notice[]
  /** Undefined without the official schema. */
  readonly shape: RecordShape | undefined
  readonly validUntil: IsoDate | undefined
  readonly totals: MoneyTotals
  readonly feed: Rendering['feed']
  /** Undefined when they could not be made. */
  readonly readyTexts: StoredTexts | undefined
  /** SHA-256 of the text. */
  readonly hash: string
  /** When the content was first seen. */
  readonly changedAt: Date
  /** What the tables and the index say of it; undefined when the content is the stored one or must not be stored. */
  readonly rows: StoredRows | undefined
}

type StoredRows = NonNullable<Rendering['content']>['rows']

/** What is stored of a project: its rendering and the API's texts. */
export type RenderedProject = { readonly rendering: Rendering; readonly readyTexts: StoredTexts | undefined }

/**
 * Generates every text of a project and checks its activity. `reports` are those of the graph, sanitized. Other work gets a
 * turn between the steps, since an activity may have tens of thousands of transactions. Throws the reason of the signal.
 */
export async function mapProject(
  deps: RenderDeps,
  startedAt: Date,
  stale: StaleProject,
  source: ProjectGraph,
  {
    reports = source.reports,
    signal,
  }: { readonly reports?: ProjectGraph['reports']; readonly signal?: AbortSignal } = {},
): Promise<MappedProject> {
  const yieldIfDue = createYielder()
  const { kept } = source
  const graph = kept ? { ...source, kept: { ...kept, read: await readKept(kept) } } : source
  const { check = activityChecks } = deps
  const today = isoDateOf(startedAt)
  const identifier = stale.identifier ?? newIdentifier(deps.mappingConfig, graph.project)
  const endMap = startStage(deps.onStageMs, 'map')
  const activity = toActivity(graph, deps.mappingConfig, today, identifier)
  await yieldIfDue()
  signal?.throwIfAborted()
  const text = Buffer.from(writeElement(activity.element))
  endMap()
  await yieldIfDue()
  const hash = sha256(text)
  const isSame = hash === stale.contentHash
  // A text that an earlier store published keeps its date.
  const changedAt = (isSame && stale.lastUpdatedAt) || statedChange(activity, stale, startedAt) || startedAt
  const endCheck = startStage(deps.onStageMs, 'check')
  const shape = deps.xsd?.shapes.open()
  const { ref: reportingOrgRef } = deps.mappingConfig.reportingOrg
  // What was read from a file has its line; the attributes of the activity are the file's.
  const isOurs = (element: Element) => element.line === undefined && element !== activity.element
  const checks = check(activity.element, { today, reportingOrgRef, ...(kept && { strict: isOurs }) }, shape)
  const found = await inTurns(checks, signal)
  endCheck()
  await yieldIfDue()
  const endFeeds = startStage(deps.onStageMs, 'feeds')
  const feed = feedOf(deps, { ...graph, reports }, stale)
  const readyTexts = inUtf8(projectTexts(graph))
  endFeeds()
  const notices = takenIdentifier(stale, graph, identifier).concat(activity.notices, found)
  const isStored = (isSame && stale.hasText) || hasError(notices)
  await yieldIfDue()
  const rows = isStored
    ? undefined
    : await rowsOf(deps, dated(activity.element, changedAt), stale.projectId, hash, signal)
  return {
    ...{ stale, version: graph.version, identifier, text, notices, shape, hash, changedAt, rows },
    ...{ validUntil: activity.validUntil, totals: activity.totals, feed, readyTexts },
  }
}

/** When the file from before the move says that the activity changed, unless a later text of it is published or it is to come. */
function statedChange({ lastUpdated }: MappedActivity, { lastUpdatedAt }: StaleProject, now: Date): Date | undefined {
  // A time without a zone is taken for UTC.
  const at =
    lastUpdated === undefined ? undefined : (parseWireDateTime(lastUpdated) ?? parseWireDateTime(`${lastUpdated}Z`))
  return at && at <= now && (lastUpdatedAt === undefined || at > lastUpdatedAt) ? at : undefined
}

async function rowsOf(
  { onStageMs }: RenderDeps,
  activity: Element,
  projectId: number,
  hash: string,
  signal: AbortSignal | undefined,
): Promise<StoredRows> {
  const endTables = startStage(onStageMs, 'tables')
  const rows = await inTurns(activityRowsSteps(activity), signal)
  endTables()
  const endIndex = startStage(onStageMs, 'index')
  const entry = toEntry(activity, projectId, hash)
  endIndex()
  return { version: rowsFormat.version, ...rows, ...entry }
}

/** The notice that holds a project whose default identifier another project brought along. */
function takenIdentifier(
  { identifier: published, defaultTakenBy }: StaleProject,
  { project }: ProjectGraph,
  subject: string,
): Notice[] {
  if (published !== undefined || project.iatiIdentifier !== undefined || defaultTakenBy === undefined) return []
  const { severity } = mappingNotices['identifier-taken']
  const detail = `expected an identifier that no other project has, got ${subject} of project ${defaultTakenBy}`
  return [{ code: 'identifier-taken', severity, subject, path: 'iatiIdentifier', detail }]
}

/**
 * A project whose texts could not be made, held by this notice: its last valid texts stay, and no other project is
 * concerned (iati.md 13.3).
 */
export function failedProject(stale: StaleProject, version: number, notice: Notice): MappedProject {
  return {
    ...{ stale, version, identifier: notice.subject },
    ...{ text: Buffer.alloc(0), hash: '', changedAt: new Date(0), rows: undefined, notices: [notice] },
    ...{ shape: undefined, validUntil: undefined, totals: {}, feed: undefined, readyTexts: undefined },
  }
}

/** The texts as bytes: a string concatenated from thousands of parts keeps all of them in memory. */
function inUtf8({ xml, json, summaryXml, summaryJson, ...others }: ReturnType<typeof projectTexts>): StoredTexts {
  return {
    ...others,
    xml: Buffer.from(xml),
    json: Buffer.from(json),
    summaryXml: Buffer.from(summaryXml),
    summaryJson: Buffer.from(summaryJson),
  }
}

/** The mapped project as it is stored, with the notices of the official schema. */
export function toRendered(deps: RenderDeps, mapped: MappedProject, schemaNotices: readonly Notice[]): RenderedProject {
  const endFeeds = startStage(deps.onStageMs, 'feeds')
  const { stale, version, identifier, validUntil, feed, readyTexts } = mapped
  const notices = [...mapped.notices, ...schemaNotices.map((notice) => ({ ...notice, subject: identifier }))]
  const { byCode: noticeCounts, ...counts } = summarizeNotices(notices)
  const rendering: Rendering = {
    projectId: stale.projectId,
    version,
    identifier,
    notices: mostSevere(notices),
    noticeCounts,
    ...counts,
    validUntil,
    ...(counts.errors === 0 && mapped.rows && { content: toContent(mapped, mapped.rows) }),
    ...(feed && { feed }),
  }
  endFeeds()
  return { rendering, readyTexts }
}

/** The approximate size of the texts. */
export function bytesOf({ rendering: { content, feed }, readyTexts }: RenderedProject): number {
  const rows = content ? content.rows.csv.length + content.rows.parquet.length + content.rows.entry.length : 0
  const published = rows + (content?.text.length ?? 0) + (typeof feed === 'object' ? feed.text.length : 0)
  if (!readyTexts) return published
  const { xml, json, summaryXml, summaryJson } = readyTexts
  return published + xml.length + json.length + summaryXml.length + summaryJson.length
}

function toContent(
  { changedAt, text, hash, totals }: MappedProject,
  rows: StoredRows,
): NonNullable<Rendering['content']> {
  return {
    text: withLastUpdated(text, changedAt),
    hash,
    money: moneyTexts(totals),
    lastUpdatedAt: new Date(isoInstantOf(changedAt)),
    rows,
  }
}

/** The element with its `last-updated-datetime`, as its text is published. */
function dated(activity: Element, at: Date): Element {
  return { ...activity, attributes: { 'last-updated-datetime': isoInstantOf(at), ...activity.attributes } }
}

const openTag = Buffer.from('<iati-activity')

/** Adds `last-updated-datetime`, the time of the run in which the content changed (iati.md 16.1). */
function withLastUpdated(text: Buffer, at: Date): Buffer {
  if (!text.subarray(0, openTag.length).equals(openTag)) throw new Error('an activity must begin with its open tag')
  const attribute = Buffer.from(` last-updated-datetime="${isoInstantOf(at)}"`)
  return Buffer.concat([openTag, attribute, text.subarray(openTag.length)])
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

function feedOf(deps: RenderDeps, graph: ProjectGraph, stale: StaleProject): Rendering['feed'] {
  const feed = projectReportFeed(graph, toFeedConfig(deps.mappingConfig))
  if (!feed) return stale.feedHash === undefined ? undefined : 'none'
  const text = Buffer.from(feed.text)
  const hash = sha256(text)
  return hash === stale.feedHash && stale.hasFeed
    ? undefined
    : { text, hash, entries: feed.entries, updatedAt: feed.updatedAt }
}

function sha256(text: Buffer): string {
  return hash('sha256', text)
}

const severityOrder = { error: 0, warning: 1, info: 2 } as const

function mostSevere(notices: readonly Notice[]): Notice[] {
  return [...notices].sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity]).slice(0, maxNotices)
}
