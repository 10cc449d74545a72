import type { ImportDetails, ImportRow } from '../../../catalogue/sql/imports.js'
import type { ImportReceipt } from '../../../catalogue/sql/receipts.js'
import { type Html, html } from '../../../http/pages/html.js'
import { grouped } from '../../../kernel/money.js'
import type { Upload } from '../uploads.js'
import { button, listed, shownInstant, shownState, type Value } from './frame.js'
import { type Sending, sendingForm } from './upload.js'

/** The imports, newest first. */
export function importsPage(imports: readonly ImportRow[], hasMore: boolean, sending: Sending | undefined): Html[] {
  const last = imports.at(-1)
  return [
    html`${sending && sendingForm(sending)}
${listed('Imports, newest first', heads, imports.map(row), 5)}
${hasMore && last ? html`<p><a href="/imports?before=${String(last.id)}">Earlier imports</a></p>` : undefined}`,
  ]
}

const heads = ['Import', 'Started', 'State', 'By', 'Files', 'Created', 'Changed', 'Refused']

function row({ id, startedAt, state, finishedAt, actor, files, created, changed, refused }: ImportRow): Value[] {
  const shown = shownState(state, state === 'running' && !finishedAt ? 'not ended' : undefined)
  const names = files.map(({ name, kind }) => `${name}${kind === undefined ? '' : ` (${kind})`}`)
  const link = html`<a href="/imports/${String(id)}">${String(id)}</a>`
  return [link, startedAt, shown, actor, names.join(', '), created, changed, refused]
}

type Around = {
  readonly mayImport: boolean
  /** The file that was sent for it, for a day. */
  readonly upload: Upload | undefined
  /** Where its refused rows are. */
  readonly refused: string | undefined
}

/** One import with the first of its problems. */
export function importPage(one: ImportDetails, { mayImport, upload, refused: rows }: Around): Html[] {
  const { startedAt, finishedAt, undoneAt, undoneBy, actor, origin, files, problems, problemCount, receipt } = one
  return [
    html`<p class="lead">By ${actor} from ${origin}, started ${shownInstant(startedAt)}, ended ${shownInstant(finishedAt)}${undoneAt && html`, taken back ${shownInstant(undoneAt)} by ${undoneBy}`}.</p>
${listed(
  'Files',
  ['File', 'Kind', 'SHA-256', 'Records', 'Created', 'Changed', 'Unchanged', 'Refused'],
  files.map(({ name, kind, sha256, records, created, changed, unchanged, refused }) => [
    ...[name, kind ?? 'unreadable', sha256],
    ...[records, created, changed, unchanged, refused],
  ]),
  3,
)}
${receipt && receiptOf(receipt)}
${listed(
  problemCount > problems.length ? `The first ${problems.length} of ${problemCount} problems` : 'Problems',
  ['File', 'Line', 'Record', 'Field', 'Expected', 'Got'],
  problems.map(({ file, line, recordId, field, expected, got }) => [file, line, recordId, field, expected, got]),
)}
${rows === undefined ? undefined : html`<p><a href="${rows}" download>The refused rows, each with its reason</a></p>`}
${movedTables(one)}
${one.state === 'done' && mayImport ? html`<p>${button(`/imports/${one.id}/undo`, 'Take it back')} ${upload?.recipe ? button(`/sources/add?upload=${upload.id}`, 'Read this every night') : undefined}</p>` : undefined}
<p>${one.state === 'done' ? html`<code>giving imports undo ${String(one.id)} --dry-run</code> shows what taking it back would do.` : undefined}</p>`,
  ]
}

/** What became of the elements of IATI files, and what the standard holds of their records. */
function movedTables({ elements, moved }: ImportDetails): Html | undefined {
  if (!elements || !moved) return undefined
  const { activities, organisations, rules } = moved
  return html`${listed(
    'Elements of IATI files, and what became of them',
    ['Element', 'Why', 'Taken into a field', 'Kept as it is', 'Left out in part', 'Held'],
    Object.entries(elements).map(([name, { taken, kept, leftOut, held, field, why = [] }]) => [
      html`<code>${name}</code>`,
      [...(field ? [field] : []), ...why].join('; ') || undefined,
      ...[taken, kept, leftOut, held],
    ]),
    2,
  )}
<p>Activities: ${activities.publishable} publishable, ${activities.held} held for errors by the standard. Organisations: ${organisations.publishable} publishable, ${organisations.heldInPart} without the elements that have errors.</p>
${listed(
  'Rules for which something is held',
  ['Rule', 'Meaning', 'First places', 'Elements'],
  rules.map(({ code, rule, count, examples }) => [
    html`<code>${code}</code>`,
    rule,
    html`${examples.map(({ file, line, recordId, detail }) => html`${file}${line === undefined ? '' : `:${line}`} ${recordId}: ${detail}<br>`)}`,
    count,
  ]),
  3,
)}`
}

/** What the import answers for: its rows, and its sums by month. */
function receiptOf({ rows, sums, recipe }: ImportReceipt): Html {
  return html`<p>${String(rows.in)} rows: ${String(rows.taken)} taken, ${String(rows.refused)} refused, ${String(rows.leftOut)} left out, ${String(rows.replaced)} replaced by later ones.${recipe && html` Read by a recipe with the SHA-256 ${recipe}.`}</p>
${listed(
  'Receipt',
  ['Month', 'Currency', 'Kind', 'In the files', 'Taken', 'Refused', 'Left out', 'In the store before', 'Afterwards'],
  sums.map(({ month, currency, kind, file, taken, refused, leftOut, before, after }) => [
    ...[month, currency, kind],
    ...[file, taken, refused, leftOut, before, after].map((sum) => sum && grouped(sum)),
  ]),
  3,
)}`
}
