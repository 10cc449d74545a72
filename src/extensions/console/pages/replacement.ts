import { type Html, html } from '../../../http/pages/html.js'
import type { Decimal } from '../../../kernel/money.js'
import { grouped } from '../../../kernel/money.js'
import type { ActivityEntry } from '../../../release/read/activity-entry.js'
import { toAmount, toUnits } from '../../../release/read/activity-entry.js'
import {
  type ChangedElement,
  changedElements,
  differing,
  type IndexedRelease,
} from '../../../release/read/changed-elements.js'
import { diffReleases } from '../../../release/read/diff-releases.js'
import { listed, withoutMarkup } from './frame.js'
import { moneyChanges } from './releases.js'

// Activities that are compared, and of these the shown ones; a text is cut where it would fill the page.
const mostCompared = 200
const mostShown = 10
const longestText = 400

/**
 * What would change if a release took the place of the live one: why it is held, the sums, which identifiers would go, and the activities
 * whose money changes most, element by element.
 */
export async function replacement(
  live: IndexedRelease | undefined,
  next: IndexedRelease,
  reason: string | undefined,
): Promise<Html> {
  const why = reason === undefined ? undefined : html`<p class="needs">It was held: ${reason}</p>\n`
  if (!live) return html`${why}<p>No release is live.</p>`
  const { activities, money, sums, held } = await diffReleases(live.release, next.release, { most: mostCompared })
  const { added, removed, changed, ended } = activities
  const pairs = changed.sample.map((identifier) => pairOf(live, next, identifier))
  const largest = pairs.toSorted((a, b) => (a.size === b.size ? 0 : a.size < b.size ? 1 : -1)).slice(0, mostShown)
  const shown: Html[] = []
  for (const pair of largest) shown.push(activity(pair, await changedElements(live, next, pair.identifier)))
  const names = (from: IndexedRelease, of: readonly string[]) =>
    html`<ul>${of.slice(0, mostShown).map((one) => html`<li>${titleOf(from, one)} <code>${one}</code></li>`)}</ul>`
  return html`${why}${listed(
    `Live is ${live.release.id}, next would be ${next.release.id}`,
    ['What', 'Change'],
    [
      ['Activities removed', removed.count],
      ['Activities added', added.count],
      ['Activities changed', changed.count],
      ['Of these, ended (closed or cancelled)', ended.count],
      ['Held activities', `${held.from} → ${held.to}`],
      ...moneyChanges({ money, sums }).map(({ name, currency, from, to }) => [
        `${name}, ${currency}`,
        `${grouped(from)} → ${grouped(to)}`,
      ]),
    ],
    1,
  )}
${removed.count > 0 ? html`<h2>Activities removed</h2>\n${names(live, removed.sample)}` : undefined}
${shown.length > 0 ? html`<h2>Largest changes</h2>\n${shown}` : undefined}
${shown.length < changed.count ? html`<p>${shown.length} of ${changed.count}. <code>giving releases diff ${live.release.id} ${next.release.id}</code> names more.</p>` : undefined}
`
}

type Amounts = readonly { readonly name: string; readonly before: Decimal; readonly after: Decimal }[]

type Pair = {
  readonly identifier: string
  readonly title: string
  readonly amounts: Amounts
  /** The largest change of an amount, to sort by. */
  readonly size: bigint
}

function pairOf(live: IndexedRelease, next: IndexedRelease, identifier: string): Pair {
  const [before, after] = [entryOf(live, identifier), entryOf(next, identifier)]
  const amounts = before && after ? changedAmounts(before, after) : []
  const sizes = amounts.map((one) => {
    const change = toUnits(one.after) - toUnits(one.before)
    return change < 0n ? -change : change
  })
  return { identifier, title: titleOf(next, identifier), amounts, size: sizes.reduce((a, b) => (a > b ? a : b), 0n) }
}

const kinds = { budget: 'Budget', in: 'Received', out: 'Paid out' } as const

function changedAmounts(before: ActivityEntry, after: ActivityEntry): Amounts {
  const currencies = [...new Set([...Object.keys(before.money), ...Object.keys(after.money)])].sort()
  const zero = toAmount(0n)
  return currencies
    .flatMap((currency) =>
      (Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => ({
        name: `${kinds[kind]}, ${currency}`,
        before: before.money[currency]?.[kind] ?? zero,
        after: after.money[currency]?.[kind] ?? zero,
      })),
    )
    .filter((one) => toUnits(one.before) !== toUnits(one.after))
}

function entryOf({ index }: IndexedRelease, identifier: string): ActivityEntry | undefined {
  const row = index?.rowOf(identifier)
  return index && row !== undefined ? index.entry(row) : undefined
}

function titleOf(from: IndexedRelease, identifier: string): string {
  return entryOf(from, identifier)?.title ?? ''
}

function activity({ identifier, title, amounts }: Pair, elements: readonly ChangedElement[]): Html {
  const rows = [
    ...amounts.map(({ name, before, after }) => [name, grouped(before), grouped(after)]),
    ...elements.map(({ name, before, after }) => {
      const shown = differing({ before: withoutMarkup(before), after: withoutMarkup(after) }, longestText)
      // An excerpt begins with a whole word.
      const whole = (text: string) => text.replace(/^… \S* ?/, '… ')
      return [html`<code>${name}</code>`, whole(shown.before), whole(shown.after)]
    }),
  ]
  return html`<h3>${title} <code>${identifier}</code></h3>
${listed(`Changes of ${identifier}`, ['What', 'Live', 'Next'], rows)}
`
}
