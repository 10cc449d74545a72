import { type Html, html } from '../../../http/pages/html.js'
import { countText, dayName, dayText, type PageBody, row, table, tile, to } from '../../../http/pages/page.js'
import type { Decimal } from '../../../kernel/money.js'
import { element, textElement } from '../../../kernel/xml/element.js'
import { writeElement } from '../../../kernel/xml/writer.js'
import type { ActivityIndex, IndexReader } from '../../../release/read/activity-index.js'
import { changedElements, type IndexedRelease } from '../../../release/read/changed-elements.js'
import { diffReleases, type ReleaseDiff } from '../../../release/read/diff-releases.js'
import type { Sample } from '../../../release/read/manifest.js'
import { NewestKept } from '../../../release/read/newest-kept.js'
import type { ReadableRelease, ReleaseReader } from '../../../release/read/release-reader.js'
import { saidHtml, spoken, titleOf } from '../said.js'
import { moneyName, moneyText, type View } from '../view.js'

// Releases that lists show, and activities that are named of each kind.
const shownReleases = 10
const mostNamed = 100
const keptDiffs = 20

/** Compares releases, which never change, once. */
export class Differences {
  readonly #kept = new NewestKept<ReleaseDiff>(keptDiffs)
  readonly #releases: ReleaseReader
  readonly #readIndex: IndexReader

  constructor(releases: ReleaseReader, readIndex: IndexReader) {
    this.#releases = releases
    this.#readIndex = readIndex
  }

  /** The kept releases from the live one back. */
  async kept(live: ReadableRelease): Promise<ReadableRelease[]> {
    const earlier = (live.manifest.previousReleases ?? []).slice(0, shownReleases)
    const found = await Promise.all(earlier.map(({ release }) => this.#releases.byId(release)))
    return [live, ...found.filter((one) => one !== undefined)]
  }

  async between(from: ReadableRelease, to: ReadableRelease): Promise<ReleaseDiff> {
    const compare = () => diffReleases(from, to, { readIndex: this.#readIndex, most: mostNamed })
    return await this.#kept.get(`${from.id}..${to.id}`, compare)
  }

  /** A release that is kept, with its index where it has one. */
  async open(id: string): Promise<IndexedRelease | undefined> {
    const release = await this.#releases.byId(id)
    return release && { release, index: await this.#readIndex(release) }
  }
}

/** `/changes`: what each kept release changed. */
export async function changesPage(view: View, differences: Differences): Promise<PageBody> {
  const { changes: words } = view.words
  const all = await steps(view, differences)
  const rows = all.map(({ from, to: after, diff: { activities, held } }) => {
    const { added, changed, ended, removed, same } = activities
    const counts = [added.count, changed.count, ended.count, removed.count, same, held.to]
    const texts = counts.map((count) => countText(view, count))
    const name = html`${dayText(view, after.manifest.generated)} <small><code>${after.id}</code></small>`
    return row(html`<a href="${to(view, 'changes')}/${from.id}..${after.id}">${name}</a>`, texts)
  })
  const head = [words.release, words.added, words.changed, words.ended, words.removed, words.same, words.held]
  const newest = all[0] && verdictOf(view, all[0])
  return {
    title: view.words.nav.changes,
    description: newest ?? words.intro,
    section: 'changes',
    head: html`<link rel="alternate" type="application/atom+xml" title="${view.words.nav.changes}" href="/changes.atom">\n`,
    main: html`<h1>${view.words.nav.changes}</h1><p class="lead">${newest ?? words.first}</p><p class="kind">${words.intro} <a href="/changes.atom">Atom</a></p>
${table({ shown: view.words.nav.changes }, head, rows)}`,
  }
}

/** A step in a sentence that can be quoted. */
function verdictOf(view: View, { to: { id, manifest }, diff }: Pick<Step, 'to' | 'diff'>): string {
  const { added, changed, ended, removed } = diff.activities
  const counts = [added, changed, ended, removed].map(({ count }) => countText(view, count))
  return view.words.changes.verdict(dayName(view, manifest.generated), id, view.publisherName, ...counts)
}

type Step = { readonly from: ReadableRelease; readonly to: ReadableRelease; readonly diff: ReleaseDiff }

async function steps({ release }: Pick<View, 'release'>, differences: Differences): Promise<Step[]> {
  const kept = await differences.kept(release)
  const found: Step[] = []
  for (const [at, after] of kept.entries()) {
    const from = kept[at + 1]
    if (from) found.push({ from, to: after, diff: await differences.between(from, after) })
  }
  return found
}

/** `/changes/{from}..{to}`: which activities two kept releases have in different states; undefined when one is not kept. */
export async function changePage(view: View, differences: Differences, pair: string): Promise<PageBody | undefined> {
  const { words } = view
  const [, from = '', until = ''] = /^([^.]+)\.\.([^.]+)$/.exec(pair) ?? []
  const [before, after] = [await differences.open(from), await differences.open(until)]
  if (!before || !after) return undefined
  const diff = await differences.between(before.release, after.release)
  const { added, changed, ended, removed, same } = diff.activities
  const changedRows: Html[] = []
  for (const identifier of changed.sample) {
    const names = (await changedElements(before, after, identifier)).map(({ name }) => html`<code>${name}</code> `)
    const project = projectLink(view, after.index, identifier)
    changedRows.push(html`<tr><th scope="row">${project}</th><td>${names}</td></tr>\n`)
  }
  const section = (title: string, { count, sample }: Sample, list: Html) =>
    count === 0
      ? undefined
      : html`<h2>${title} (${countText(view, count)})</h2>${list}${count > sample.length ? html`<p>${words.changes.shown(countText(view, sample.length))}</p>` : undefined}\n`
  const named = (title: string, of: Sample, index: ActivityIndex | undefined) =>
    section(title, of, html`<ul>${of.sample.map((one) => html`<li>${projectLink(view, index, one)}</li>\n`)}</ul>`)
  const received = Object.entries(diff.money).map(([currency, { change }]) => ({
    kind: 'in' as const,
    currency,
    change,
  }))
  const money = (diff.sums ?? received).map(({ kind, currency, change }) =>
    tile(words.changes.money(moneyName(view, kind)), moneyText(view, change as Decimal, currency)),
  )
  const { held } = after.release.manifest
  const end = ({ manifest, id }: ReadableRelease) => html`${dayText(view, manifest.generated)} <code>${id}</code>`
  return {
    title: `${before.release.id} – ${after.release.id}`,
    description: words.changes.intro,
    section: 'changes',
    isUnlisted: true,
    main: html`<p class="path"><a href="${to(view, 'changes')}">${words.nav.changes}</a></p>
<h1>${words.nav.changes}</h1><p class="lead">${verdictOf(view, { to: after.release, diff })}</p><p class="kind">${end(before.release)} – ${end(after.release)}</p>
<dl class="tiles">${tile(words.changes.same, countText(view, same))}${tile(words.changes.held, countText(view, diff.held.to))}${money}</dl>
${named(words.changes.added, added, after.index)}
${section(words.changes.changed, changed, table(words.changes.elements, [words.groups.name, words.changes.elements], changedRows, 2))}
${named(words.changes.ended, ended, after.index)}
${named(words.changes.removed, removed, before.index)}
${held.count > 0 ? html`<h2>${words.changes.held} (${countText(view, held.count)})</h2>${heldActivities(view, after)}\n` : undefined}`,
  }
}

/** What a release holds back. Does not name held activities that were never published. */
export function heldActivities(view: View, { release, index }: IndexedRelease): Html {
  const { count, sample } = release.manifest.held
  const items = sample.map(
    ({ identifier, notices }) =>
      html`<li>${projectLink(view, index, identifier)}: ${notices.map(({ code, path }) => html`<code>${code}</code> (${path}) `)}</li>\n`,
  )
  const unnamed = count > items.length ? html`<p>${view.words.quality.heldUnnamed}</p>` : undefined
  return html`${items.length > 0 ? html`<ul>${items}</ul>` : undefined}${unnamed}`
}

function projectLink(view: View, index: ActivityIndex | undefined, identifier: string): Html {
  const row = index?.rowOf(identifier)
  const live = view.index.rowOf(identifier)
  const name =
    index && row !== undefined ? titleOf(view, index.entry(row)) : { text: identifier, language: view.language }
  if (live === undefined) return saidHtml(view, name)
  return html`<a href="${to(view, 'projects', String(view.index.entry(live).project))}"${spoken(view, name)}>${name.text}</a>`
}

/** `/changes.atom`: an entry for each kept release that changed something. */
export async function changesFeed(view: View, differences: Differences): Promise<string> {
  const { baseUrl, publisherName, words, release } = view
  const address = `${baseUrl}/changes.atom`
  const all = await steps(view, differences)
  const entries = all.map(({ from, to: after, diff }) => {
    const told = (['added', 'changed', 'ended', 'removed'] as const).map(
      (kind) => [words.changes[kind], diff.activities[kind]] as const,
    )
    const link = `${baseUrl}/changes/${from.id}..${after.id}`
    return element('entry', undefined, [
      textElement('id', link),
      textElement('title', `${words.changes.release} ${after.id}`),
      textElement('updated', after.manifest.generated),
      element('link', { rel: 'alternate', type: 'text/html', href: link }),
      textElement('summary', told.map(([name, { count }]) => `${name}: ${count}`).join('; ')),
    ])
  })
  const feed = element('feed', { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': words.code }, [
    textElement('id', address),
    textElement('title', `${words.nav.changes}: ${publisherName}`),
    textElement('updated', release.manifest.generated),
    element('author', undefined, [textElement('name', publisherName)]),
    element('link', { rel: 'self', type: 'application/atom+xml', href: address }),
    element('link', { rel: 'alternate', type: 'text/html', href: `${baseUrl}/changes` }),
    ...entries,
  ])
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(feed)}\n`
}
