import type { Upload } from '../../../catalogue/import/uploads.js'
import type { ImportDetails, ImportRow } from '../../../catalogue/sql/imports.js'
import type { ImportReceipt } from '../../../catalogue/sql/receipts.js'
import { type Html, html } from '../../portal/html.js'
import { button, listed, shownInstant } from './frame.js'
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

function row({ id, startedAt, state, finishedAt, actor, files, created, changed, refused }: ImportRow): Html {
  const shown = state === 'running' && !finishedAt ? 'not ended' : state
  const names = files.map(({ name, kind }) => `${name}${kind === undefined ? '' : ` (${kind})`}`)
  return html`<tr><th scope="row"><a href="/imports/${String(id)}">${String(id)}</a></th><td>${shownInstant(startedAt)}</td><td>${shown}</td><td>${actor}</td><td>${names.join(', ')}</td><td class="number">${created}</td><td class="number">${changed}</td><td class="number">${refused}</td></tr>
`
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
  files.map(
    (file) =>
      html`<tr><th scope="row">${file.name}</th><td>${file.kind ?? 'unreadable'}</td><td>${file.sha256 ?? '–'}</td><td class="number">${file.records}</td><td class="number">${file.created}</td><td class="number">${file.changed}</td><td class="number">${file.unchanged}</td><td class="number">${file.refused}</td></tr>\n`,
  ),
  3,
)}
${receipt && receiptOf(receipt)}
${listed(
  problemCount > problems.length ? `The first ${problems.length} of ${problemCount} problems` : 'Problems',
  ['File', 'Line', 'Record', 'Field', 'Expected', 'Got'],
  problems.map(
    ({ file, line, recordId, field, expected, got }) =>
      html`<tr><th scope="row">${file}</th><td>${line === undefined ? '–' : String(line)}</td><td>${recordId ?? '–'}</td><td>${field}</td><td>${expected}</td><td>${got ?? '–'}</td></tr>\n`,
  ),
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
    Object.entries(elements).map(
      ([name, { taken, kept, leftOut, held, field, why = [] }]) =>
        html`<tr><th scope="row"><code>${name}</code></th><td>${[...(field ? [field] : []), ...why].join('; ') || '–'}</td><td class="number">${taken}</td><td class="number">${kept}</td><td class="number">${leftOut}</td><td class="number">${held}</td></tr>\n`,
    ),
    2,
  )}
<p>Activities: ${activities.publishable} publishable, ${activities.held} held for errors by the standard. Organisations: ${organisations.publishable} publishable, ${organisations.heldInPart} without the elements that have errors.</p>
${listed(
  'Rules for which something is held',
  ['Rule', 'Meaning', 'First places', 'Elements'],
  rules.map(
    ({ code, rule, count, examples }) =>
      html`<tr><th scope="row"><code>${code}</code></th><td>${rule}</td><td>${examples.map(({ file, line, recordId, detail }) => html`${file}${line === undefined ? '' : `:${line}`} ${recordId}: ${detail}<br>`)}</td><td class="number">${count}</td></tr>\n`,
  ),
  3,
)}`
}

/** What the import answers for: its rows, and its sums by month. */
function receiptOf({ rows, sums, recipe }: ImportReceipt): Html {
  return html`<p>${String(rows.in)} rows: ${String(rows.taken)} taken, ${String(rows.refused)} refused, ${String(rows.leftOut)} left out, ${String(rows.replaced)} replaced by later ones.${recipe && html` Read by a recipe with the SHA-256 ${recipe}.`}</p>
${listed(
  'Receipt',
  ['Month', 'Currency', 'Kind', 'In the files', 'Taken', 'Refused', 'Left out', 'In the store before', 'Afterwards'],
  sums.map(
    ({ month, currency, kind, file, taken, refused, leftOut, before, after }) =>
      html`<tr><th scope="row">${month}</th><td>${currency}</td><td>${kind}</td><td class="number">${file}</td><td class="number">${taken}</td><td class="number">${refused}</td><td class="number">${leftOut}</td><td class="number">${before ?? '–'}</td><td class="number">${after ?? '–'}</td></tr>\n`,
  ),
  3,
)}`
}
