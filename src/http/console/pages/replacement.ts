import type { Decimal } from '../../../kernel/money.js'
import type { ActivityEntry } from '../../../release/read/activity-entry.js'
import { toAmount, toUnits } from '../../../release/read/activity-entry.js'
import {
  type ChangedElement,
  changedElements,
  differing,
  type IndexedRelease,
} from '../../../release/read/changed-elements.js'
import { diffReleases } from '../../../release/read/diff-releases.js'
import { type Html, html } from '../../portal/html.js'
import { listed } from './frame.js'
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
      count('Activities removed', removed.count),
      count('Activities added', added.count),
      count('Activities changed', changed.count),
      count('Of these, ended (closed or cancelled)', ended.count),
      html`<tr><th scope="row">Held activities</th><td class="number">${held.from} → ${held.to}</td></tr>\n`,
      ...moneyChanges({ money, sums }).map(
        ({ name, currency, from, to }) =>
          html`<tr><th scope="row">${name}, ${currency}</th><td class="number">${from} → ${to}</td></tr>\n`,
      ),
    ],
    1,
  )}
${removed.count > 0 ? html`<h2>Activities removed</h2>\n${names(live, removed.sample)}` : undefined}
${shown.length > 0 ? html`<h2>Largest changes</h2>\n${shown}` : undefined}
${shown.length < changed.count ? html`<p>${shown.length} of ${changed.count}. <code>giving releases diff ${live.release.id} ${next.release.id}</code> names more.</p>` : undefined}
`
}

function count(name: string, value: number): Html {
  return html`<tr><th scope="row">${name}</th><td class="number">${value}</td></tr>\n`
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
    ...amounts.map(
      ({ name, before, after }) => html`<tr><th scope="row">${name}</th><td>${before}</td><td>${after}</td></tr>\n`,
    ),
    ...elements.map((element) => {
      const { before, after } = differing(element, longestText)
      return html`<tr><th scope="row"><code>${element.name}</code></th><td><code>${before}</code></td><td><code>${after}</code></td></tr>\n`
    }),
  ]
  return html`<h3>${title} <code>${identifier}</code></h3>
${listed(`Changes of ${identifier}`, ['What', 'Live', 'Next'], rows)}
`
}
