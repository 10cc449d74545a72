import { shownPlace } from '../../../catalogue/sources/sealed-place.js'
import { waitingFile } from '../../../catalogue/sources/source-needs.js'
import type { HeldFile, Source } from '../../../catalogue/sql/import-sources.js'
import { type Html, html } from '../../portal/html.js'
import { button, listed, shownInstant } from './frame.js'

/** The sources by name, with the files that wait for a person. */
export function sourcesPage(sources: readonly Source[]): Html[] {
  return [
    ...sources.flatMap((source) => {
      const held = waitingFile(source)
      return held ? [heldFile(source.name, held)] : []
    }),
    listed('Sources', heads, sources.map(row)),
  ]
}

const heads = ['Source', 'Kind', 'From', 'Schedule', 'Complete', 'Next', 'Last read', 'Outcome', 'Message', 'Import']

function heldFile(name: string, { file, since, changed, gone, before, examples }: HeldFile): Html {
  return html`<div class="needs"><p>${name} is held since ${since.slice(0, 16).replace('T', ' ')}: ${file} would change ${String(changed)} and end ${String(gone)} of ${String(before)} records, such as ${examples.join(', ')}.</p>
<p>${button(`/sources/${name}/approve`, 'Approve')} ${button(`/sources/${name}/refuse`, 'Refuse')}</p></div>
`
}

function row(source: Source): Html {
  const { name, kind, from, schedule, complete, nextDue, triedAt, outcome, message, import: id } = source
  return html`<tr><th scope="row">${name}</th><td>${kind}</td><td>${shownPlace(from)}</td><td>${schedule}</td><td>${complete ? 'yes' : 'no'}</td><td>${shownInstant(nextDue)}</td><td>${shownInstant(triedAt)}</td><td>${outcome ?? 'not read yet'}</td><td>${message ?? '–'}</td><td>${id === undefined ? '–' : html`<a href="/imports/${String(id)}">${String(id)}</a>`}</td></tr>
`
}
