import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Html, html } from '../../../http/pages/html.js'
import {
  type Caption,
  countText,
  dayName,
  dayText,
  type PageBody,
  pluralOf,
  row,
  table,
} from '../../../http/pages/page.js'
import { indexedElements } from '../../../release/read/activity-entry.js'
import type { ActivityIndex } from '../../../release/read/activity-index.js'
import type { Manifest } from '../../../release/read/manifest.js'
import type { ReadableRelease } from '../../../release/read/release-reader.js'
import { meter } from '../charts/bars.js'
import { month, percent, type View } from '../view.js'
import { type Differences, heldActivities } from './changes.js'

/** What is counted over the entries of a release. */
type Quality = {
  readonly activities: number
  readonly current: number
  /** Activities, and current ones, with each element of `indexedElements`. */
  readonly having: readonly number[]
  readonly currentHaving: readonly number[]
  /** Current activities with a budget in the year. */
  readonly forward: ReadonlyMap<number, number>
  readonly changedIn: ReadonlyMap<string, number>
}

const known = new WeakMap<ActivityIndex, { readonly manifest: Manifest; readonly quality: Promise<Quality> }>()

/** The counts of a release, made once for all languages. */
async function qualityOf({ index, release }: View): Promise<Quality> {
  const last = known.get(index)
  if (last?.manifest === release.manifest) return await last.quality
  const quality = countQuality({ index, release })
  known.set(index, { manifest: release.manifest, quality })
  return await quality
}

/** Counts over all entries; a day decides which activities are current (IATI Dashboard). */
async function countQuality({ index, release }: Pick<View, 'index' | 'release'>): Promise<Quality> {
  const { generated } = release.manifest
  const year = Number(generated.slice(0, 4))
  const yearAgo = `${year - 1}${generated.slice(4, 10)}`
  const having = indexedElements.map(() => 0)
  const currentHaving = indexedElements.map(() => 0)
  const forward = new Map([year, year + 1, year + 2].map((one) => [one, 0]))
  const changedIn = new Map<string, number>()
  let current = 0
  for (let row = 0; row < index.count; row++) {
    const entry = index.entry(row)
    const isCurrent = entry.status === '2' || (entry.end !== undefined && entry.end >= yearAgo)
    if (isCurrent) current++
    for (let bit = 0; bit < indexedElements.length; bit++) {
      if (Math.floor(entry.has / 2 ** bit) % 2 === 0) continue
      having[bit] = (having[bit] ?? 0) + 1
      if (isCurrent) currentHaving[bit] = (currentHaving[bit] ?? 0) + 1
    }
    if (isCurrent)
      for (const one of entry.budgetYears) if (forward.has(one)) forward.set(one, (forward.get(one) ?? 0) + 1)
    const changed = entry.changed.slice(0, 7)
    changedIn.set(changed, (changedIn.get(changed) ?? 0) + 1)
    if (row % 500 === 0) await nextTurn()
  }
  return { activities: index.count, current, having, currentHaving, forward, changedIn }
}

/** The elements of the Dashboard's three kinds of comprehensiveness that an activity has as children. */
const comprehensiveness = {
  core: [
    'reporting-org',
    'iati-identifier',
    'participating-org',
    'title',
    'description',
    'activity-status',
    'activity-date',
    'sector',
    'recipient-country',
  ],
  financial: ['budget', 'transaction'],
  added: ['contact-info', 'location', 'default-aid-type', 'document-link', 'result'],
} as const

/** `/quality`: what the Dashboard and the Validator would say of this release. */
export async function qualityPage(view: View, differences: Differences): Promise<PageBody> {
  const { words, release } = view
  const { manifest } = release
  const quality = await qualityOf(view)
  const files = checkedFiles(manifest)
  const errors = noticesOf(files, 'errors')
  const { activities } = quality
  const forward = [...quality.forward].map(([year, found]) => [String(year), found] as const)
  const newest = [...quality.changedIn].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, 12)
  const months = newest.map(([name, found]) => [month(view, name), found] as const)
  const counted = indexedElements.map((name, at) => [name, quality.having[at] ?? 0] as const)
  const elements = counted.filter(([, found]) => found > 0)
  const valid = percent(view, Math.max(0, activities - errors), activities)
  const projects = words.projects(countText(view, activities), pluralOf(view, activities))
  const day = dayName(view, manifest.generated)
  const held = countText(view, manifest.held.count)
  const verdict = words.quality.verdict(projects, view.publisherName, day, valid, held, release.id)
  return {
    title: words.nav.quality,
    description: verdict,
    section: 'quality',
    main: html`<h1>${words.nav.quality}</h1><p class="lead">${verdict}</p><p class="kind">${words.quality.intro}</p>
${findings(view, files)}
${comprehensivenessSection(view, quality)}
<div class="halves"><div><h2>${words.quality.forward}</h2>${shareTable(view, words.quality.forwardNote, words.list.year, forward, quality.current)}</div>
<div><h2>${words.quality.timeliness}</h2>${shareTable(view, words.quality.timelinessNote, words.money.month, months, activities)}</div></div>
<h2>${words.quality.coverage}</h2>${shareTable(view, words.quality.coverageNote, words.quality.element, elements, activities)}
<h2>${words.changes.held}</h2><p>${words.quality.heldNote}</p>${manifest.held.count === 0 ? html`<p>${words.none}</p>` : heldActivities(view, view)}
${overTime(view, await differences.kept(release))}`,
  }
}

/** How many activities of a whole have each thing. */
function shareTable(
  view: View,
  note: Caption,
  kind: string,
  shares: readonly (readonly [name: string, found: number])[],
  whole: number,
): Html {
  const { words } = view
  const rows = shares.map(([name, found]) => {
    const share = html`${percent(view, found, whole)} ${meter(found, whole)}`
    return row(html`<code>${name}</code>`, [countText(view, found), share])
  })
  return table(note, [kind, words.quality.activities, words.quality.share], rows)
}

function comprehensivenessSection(view: View, quality: Quality): Html {
  const { words } = view
  const parts = (['core', 'financial', 'added'] as const).map((kind) => {
    const shares = comprehensiveness[kind].map(
      (name) => [name, quality.currentHaving[indexedElements.indexOf(name)] ?? 0] as const,
    )
    return html`<div><h3>${words.quality[kind]}</h3>${shareTable(view, { shown: words.quality[kind] }, words.quality.element, shares, quality.current)}</div>`
  })
  return html`<h2>${words.quality.comprehensiveness}</h2><p>${words.quality.comprehensivenessNote}</p><div class="halves">${parts}</div>`
}

function findings(view: View, files: View['release']['manifest']['files']): Html {
  const { words } = view
  const codes = new Map<string, number>()
  for (const { notices } of files) {
    for (const [code, found] of Object.entries(notices.byCode)) codes.set(code, (codes.get(code) ?? 0) + Number(found))
  }
  if (codes.size === 0) return html``
  const rows = [...codes]
    .sort(([, a], [, b]) => b - a)
    .map(([code, found]) => row(html`<code>${code}</code>`, [countText(view, found)]))
  return html`<h2>${words.quality.findings}</h2>${table({ shown: words.quality.findings }, [words.quality.code, words.quality.count], rows)}`
}

/** What the manifests of kept releases say. */
function overTime(view: View, kept: readonly ReadableRelease[]): Html {
  const { quality: words, changes } = view.words
  const head = [changes.release, words.activities, words.validity, words.errors, words.warnings, changes.held]
  const rows = kept.map(({ id, manifest }) => {
    const files = checkedFiles(manifest)
    const [wrong, doubtful] = [noticesOf(files, 'errors'), noticesOf(files, 'warnings')]
    const all = manifest.totals.activities
    const cells = [
      countText(view, all),
      percent(view, Math.max(0, all - wrong), all),
      ...[wrong, doubtful, manifest.held.count].map((count) => countText(view, count)),
    ]
    return row(html`${dayText(view, manifest.generated)} <small><code>${id}</code></small>`, cells)
  })
  return html`<h2>${words.overTime}</h2>${table({ shown: words.overTime }, head, rows)}`
}

/** The files whose records are checked. */
function checkedFiles({ files }: Manifest): Manifest['files'] {
  return files.filter(({ path }) => /^\/iati\/(activities(-\d+)?|organisations)\.xml$/.test(path))
}

function noticesOf(files: Manifest['files'], of: 'errors' | 'warnings'): number {
  return files.reduce((total, { notices }) => total + notices[of], 0)
}
