import type { HeldFile, Source } from '../../../catalogue/sql/import-sources.js'
import { type Html, html } from '../../../http/pages/html.js'
import { grouped } from '../../../kernel/money.js'
import { shownPlace } from '../../sources/sealed-place.js'
import { waitingFile } from '../../sources/source-needs.js'
import { button, facts, listed, shownState, type Value } from './frame.js'

/** The sources by name, with the files that wait for a person. */
export function sourcesPage(sources: readonly Source[], mayImport: boolean): Html[] {
  return [
    ...sources.flatMap((source) => {
      const held = waitingFile(source)
      return held ? [heldFile(source.name, held)] : []
    }),
    listed(
      'Sources',
      heads,
      sources.map((source) => row(source, mayImport)),
    ),
    html`<p>A source is made of a file that was sent and imported: its receipt leads to <em>Read this every night</em>.</p>`,
  ]
}

const heads = ['Source', 'Kind', 'From', 'Schedule', 'Next', 'Last read', 'Outcome', 'What came last', 'Change']

function heldFile(name: string, held: HeldFile): Html {
  return html`<div class="needs"><p>${name} is held since ${held.since.slice(0, 16).replace('T', ' ')}: ${difference(held)}</p>
<p>${button(`/sources/${name}/approve`, 'Approve')} ${button(`/sources/${name}/refuse`, 'Refuse')}</p></div>
${moneyTable(held)}
`
}

function difference({ file, changed, gone, before, examples }: HeldFile): string {
  return `${file} would change ${changed} and end ${gone} of ${before} records, such as ${examples.join(', ')}.`
}

function moneyTable({ file, money = [] }: HeldFile): Html | undefined {
  if (money.length === 0) return undefined
  return listed(
    `Money of the months in ${file}`,
    ['Kind', 'Currency', 'In the store now', 'Afterwards'],
    money.map(({ currency, kind, before, after }) => [kind, currency, grouped(before), grouped(after)]),
    2,
  )
}

function row(source: Source, mayImport: boolean): Value[] {
  const { name, kind, from, schedule, complete, nextDue, triedAt, outcome, message, import: id, isRunning } = source
  const last =
    id === undefined
      ? undefined
      : html` <a href="/imports/${String(id)}">Receipt and refused rows of import ${String(id)}</a>`
  const remove = mayImport ? html` ${button(`/sources/${name}/remove`, `Remove ${name}`)}` : undefined
  const read = isRunning ? shownState('running', 'it is being read') : triedAt
  const change = html`${button(`/sources/${name}/run`, `Read ${name} now`)}${remove}`
  return [
    ...[name, `${kind}${complete ? ', complete' : ''}`, shownPlace(from), schedule, nextDue, read],
    ...[shownOutcome(outcome), html`${message ?? '–'}${last}`, change],
  ]
}

function shownOutcome(outcome: Source['outcome']): Value {
  return outcome === undefined ? 'not read yet' : shownState(outcome)
}

/** What is known of a source, and of its file that waits. */
export function sourceFacts(source: Source): Html {
  const { kind, from, outcome, message } = source
  const held = waitingFile(source)
  return html`${facts([
    ['Kind', kind],
    ['From', shownPlace(from)],
    ['Outcome', outcome === undefined ? 'not read yet' : shownState(outcome, message)],
  ])}
${held && html`<p>${difference(held)}</p>${moneyTable(held)}`}`
}

/** The schedules that a person chooses from. */
export const schedules = [
  ['30 1 * * *', 'every night at 01:30'],
  ['0 * * * *', 'every hour'],
  ['30 1 * * 1', 'on Mondays at 01:30'],
] as const

type Adding = {
  readonly token: string
  readonly operator: string | undefined
  readonly upload: string
  readonly kind: string
  /** What it may be called. */
  readonly name: string
  readonly by: string | undefined
  readonly canEnd: boolean
  readonly inbox: string
  /** Folders that are there. */
  readonly folders: readonly string[]
}

/** Asks where files like one that was imported come from from now on. */
export function addSourcePage({ token, operator, upload, kind, name, by, canEnd, inbox, folders }: Adding): Html {
  const who =
    operator === undefined
      ? html`<div><label for="name">Your name, for the audit trail</label><input id="name" name="name" value="${by}" required maxlength="40" autocomplete="username"></div>`
      : undefined
  const complete = canEnd
    ? html`<div><label><input type="checkbox" name="complete" value="yes"> Each file has all records: end those that it lacks</label></div>`
    : undefined
  return html`<p class="lead">Files with ${kind} are read by the choices that you have made. A file that changes much is held for you.</p>
<form class="action" method="post">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="upload" value="${upload}">
${who}<div><label for="source">What the source is called</label><input id="source" name="source" value="${name}" required maxlength="63" pattern="[a-z0-9][a-z0-9-]*"></div>
<div><label for="from">From an address with https, or a folder in ${inbox}</label><input id="from" name="from" required maxlength="2000" list="folders"><datalist id="folders">${folders.map((folder) => html`<option value="${folder}"></option>`)}</datalist></div>
<div><label for="schedule">When</label><select id="schedule" name="schedule">${schedules.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></div>
${complete}<button>Read it from there</button>
</form>
<p class="path">Places with a password or key are added by <code>giving sources add</code>, where nobody else reads it.</p>`
}
