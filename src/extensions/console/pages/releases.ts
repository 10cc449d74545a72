import { type Html, html } from '../../../http/pages/html.js'
import { grouped } from '../../../kernel/money.js'
import type { ReleaseDiff } from '../../../release/read/diff-releases.js'
import type { KnownRelease } from '../../../release/read/list-releases.js'
import type { Sample } from '../../../release/read/manifest.js'
import { button, listed, shownBytes, shownState } from './frame.js'

/** Every release on disk, with what may be done with it. */
export function releasesPage(releases: readonly KnownRelease[]): Html[] {
  const live = releases.find(({ state }) => state === 'live')
  const rows = releases.map((one) => [
    html`<span class="id" id="${one.id}">${one.id}</span>`,
    shownState(one.state, one.state === 'held' ? one.reason : undefined),
    new Date(one.generated),
    html`${choices(one, live?.id)}`,
    ...[one.activities, one.held, shownBytes(one.bytes)],
  ])
  const heads = ['Release', 'State', 'Generated', 'What may be done', 'Activities', 'Held', 'Size']
  return [listed('Releases on disk, newest first', heads, rows, 4), releases.length > 1 ? chooser(releases) : html``]
}

function choices({ id, state }: KnownRelease, live: string | undefined): Html[] {
  const address = `/releases/${encodeURIComponent(id)}`
  const compare =
    live !== undefined && live !== id
      ? [
          html`<a href="${differenceAddress(live, id)}">Difference of <span class="id">${id}</span> from the live one</a> `,
        ]
      : []
  if (state === 'held') return [...compare, button(`${address}/approve`, `Approve ${id}`)]
  return state === 'superseded' ? [...compare, button(`${address}/rollback`, `Roll back to ${id}`)] : compare
}

function differenceAddress(from: string, to: string): string {
  return `/releases/difference?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`
}

function chooser(releases: readonly KnownRelease[]): Html {
  const select = (name: string, text: string, chosen: number) =>
    html`<div><label for="${name}">${text}</label><select id="${name}" name="${name}">${releases.map(({ id }, at) => html`<option${at === chosen ? html` selected` : undefined}>${id}</option>`)}</select></div>\n`
  return html`<h2>Difference between two releases</h2>
<form class="filters" action="/releases/difference">
${select('from', 'From', 1)}${select('to', 'To', 0)}<div><button>Compare</button></div>
</form>`
}

/** What `giving releases diff` prints. */
export function differencePage({ from, to, activities, money, sums, files, held }: ReleaseDiff): Html[] {
  const { same, ...changes } = activities
  return [
    html`<p class="lead">From ${from} to ${to}.</p>
${listed(
  'Activities',
  ['Change', 'Which', 'Number'],
  [
    ...Object.entries(changes).map(([change, found]) => [change, named(found), found.count]),
    ['same', '', same],
    ['held', '', `${held.from} → ${held.to}`],
  ],
  2,
)}
${listed(
  'Money that differs',
  ['Kind', 'Currency', 'From', 'To', 'Change'],
  moneyChanges({ money, sums }).map(({ name, currency, from, to, change }) => [
    ...[name, currency],
    ...[from, to, change].map(grouped),
  ]),
  2,
)}
${listed(
  'Files that differ',
  ['File', 'Change', 'Size', 'Records'],
  files
    .filter(({ change }) => change !== 'same')
    .map(({ path, change, bytes, records }) => [
      ...[path, change, `${shownBytes(bytes.from)} → ${shownBytes(bytes.to)}`],
      `${grouped(String(records.from))} → ${grouped(String(records.to))}`,
    ]),
  2,
)}
<p><a href="/releases">All releases</a></p>`,
  ]
}

const kinds = {
  budget: 'Budget',
  in: 'Received',
  partners: 'Paid to partners',
  expenditure: 'Fees and own expenditure',
}

/** Sums that differ between two releases; of incoming funds alone where a release has no index. */
export function moneyChanges({ money, sums }: Pick<ReleaseDiff, 'money'> & { readonly sums: ReleaseDiff['sums'] }) {
  if (sums) return sums.map((one) => ({ ...one, name: kinds[one.kind] }))
  return Object.entries(money).map(([currency, one]) => ({ ...one, currency, name: kinds.in }))
}

function named({ count, sample }: Sample): string {
  return `${sample.join(', ')}${count > sample.length ? ', ...' : ''}`
}
