import { createHash } from 'node:crypto'
import { type IsoDate, isoDateOf, isoInstantOf } from '../../domain/dates.js'
import { fromMinorUnits, minorUnitExponent, parseCurrencyCode } from '../../domain/money.js'
import type { Notice } from '../../domain/notice.js'
import type { ProjectGraph } from '../../domain/project.js'
import { projectReportFeed } from '../../feeds/atom/report-feed.js'
import { newIdentifier, toActivity } from '../../feeds/iati/activity.js'
import type { MoneyTotals } from '../../feeds/iati/transactions.js'
import type { Rendering } from '../../store/publication/save-renderings.js'
import type { StaleProject } from '../../store/publication/stale-projects.js'
import type { ProjectTexts } from '../../store/ready-texts/ready-texts.js'
import { validateActivity } from '../../validation/index.js'
import { projectTexts } from '../../wire/write/project.js'
import { writeElement } from '../../xml/writer.js'
import type { RenderDeps } from '../publication.js'
import { startStage } from './stages.js'

// Findings stored with a rendering; the counts stay exact.
const maxNotices = 20

/**
 * A project whose texts are made. Nothing in it refers to the graph or the elements they were made from, which are
 * gone, hundreds of kilobytes each, before the next project is mapped; buffers are outside the garbage collected heap.
 */
export type MappedProject = {
  readonly stale: StaleProject
  readonly version: number
  readonly identifier: string
  /** The activity in UTF-8, still without `last-updated-datetime`. */
  readonly text: Buffer
  /** Of the mapping and of our checks. */
  readonly notices: readonly Notice[]
  readonly validUntil: IsoDate | undefined
  readonly totals: MoneyTotals
  readonly feed: Rendering['feed']
  readonly record: ProjectTexts
}

/** What is stored of a project: its rendering and the API's records. */
export type RenderedProject = { readonly rendering: Rendering; readonly record: ProjectTexts }

/** Makes every text of a project, and checks its activity. */
export function mapProject(deps: RenderDeps, startedAt: Date, stale: StaleProject, graph: ProjectGraph): MappedProject {
  const { check = validateActivity } = deps
  const today = isoDateOf(startedAt)
  const identifier = stale.identifier ?? newIdentifier(deps.mapping, graph.project.id)
  const mapping = startStage(deps.onStage, 'map')
  const activity = toActivity(graph, deps.mapping, today, identifier)
  const text = Buffer.from(writeElement(activity.element))
  mapping?.()
  const checking = startStage(deps.onStage, 'check')
  const found = check(activity.element, { today, reportingOrgRef: deps.mapping.reportingOrg.ref })
  checking?.()
  const makingFeeds = startStage(deps.onStage, 'feeds')
  const feed = feedOf(deps, graph, stale)
  const record = projectTexts(graph)
  makingFeeds?.()
  return {
    ...{ stale, version: graph.version, identifier, text, notices: [...activity.notices, ...found] },
    ...{ validUntil: activity.validUntil, totals: activity.totals, feed, record },
  }
}

/** The mapped project as it is stored, once the official schema has had its say. */
export function toRendered(
  deps: RenderDeps,
  startedAt: Date,
  mapped: MappedProject,
  schemaNotices: readonly Notice[],
): RenderedProject {
  const hashing = startStage(deps.onStage, 'feeds')
  const { stale, version, identifier, text, validUntil, totals, feed, record } = mapped
  const notices = [...mapped.notices, ...schemaNotices.map((notice) => ({ ...notice, subject: identifier }))]
  const count = (severity: Notice['severity']) => notices.filter((notice) => notice.severity === severity).length
  const errors = count('error')
  const hash = sha256(text)
  const rendering: Rendering = {
    projectId: stale.projectId,
    version,
    identifier,
    notices: mostSevere(notices),
    noticeCounts: countByCode(notices),
    errors,
    warnings: count('warning'),
    infos: count('info'),
    validUntil,
    ...(errors === 0 && hash !== stale.contentHash ? { content: toContent(startedAt, text, hash, totals) } : {}),
    ...(feed && { feed }),
  }
  hashing?.()
  return { rendering, record }
}

/** The size of the texts, about: those of the records in characters. */
export function bytesOf({ rendering: { content, feed }, record }: RenderedProject): number {
  const { xml, json, summaryXml, summaryJson } = record
  const published = (content?.text.length ?? 0) + (typeof feed === 'object' ? feed.text.length : 0)
  return published + xml.length + json.length + summaryXml.length + summaryJson.length
}

function toContent(
  startedAt: Date,
  text: Buffer,
  hash: string,
  totals: MoneyTotals,
): NonNullable<Rendering['content']> {
  return {
    text: withLastUpdated(text, startedAt),
    hash,
    money: moneyTexts(totals),
    lastUpdatedAt: new Date(isoInstantOf(startedAt)),
  }
}

const openTag = Buffer.from('<iati-activity ')

/** Adds `last-updated-datetime`, the time of the run in which the content changed (iati.md 16.1). */
function withLastUpdated(text: Buffer, at: Date): Buffer {
  if (!text.subarray(0, openTag.length).equals(openTag)) throw new Error('an activity must begin with its open tag')
  const attribute = Buffer.from(`last-updated-datetime="${isoInstantOf(at)}" `)
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
  const { baseUrl, language, reportingOrg } = deps.mapping
  const feed = projectReportFeed(graph, { baseUrl, language, publisherName: reportingOrg.name })
  if (!feed) return stale.feedHash === undefined ? undefined : 'none'
  const text = Buffer.from(feed.text)
  const hash = sha256(text)
  return hash === stale.feedHash ? undefined : { text, hash, entries: feed.entries, updatedAt: feed.updatedAt }
}

function sha256(text: Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

function countByCode(notices: readonly Notice[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of notices) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

const severityOrder = { error: 0, warning: 1, info: 2 } as const

function mostSevere(notices: readonly Notice[]): Notice[] {
  return [...notices].sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity]).slice(0, maxNotices)
}
