import { isPart } from '../../../iati/addresses.js'
import { meaningOf } from '../../../iati/tables/meanings.js'
import { type Table, tables } from '../../../iati/tables/tables.js'
import type { ManifestFile } from '../../../release/read/manifest.js'
import { type Html, html } from '../html.js'
import { datasetOf } from '../linked-data.js'
import { countText, dayName, type PageBody, pathLink, row, table, to, type View, withColon } from '../view.js'
import { size } from './developers.js'

/** `/data`: every file of the release, the tables in words with what their columns are. */
export function dataPage(view: View): PageBody {
  const { words, release } = view
  const { data, home } = words
  const files = release.manifest.files.filter(({ path }) => !isPart(path))
  const listed = tables.flatMap((one) => {
    const [csv, parquet] = ['csv', 'parquet'].map((format) =>
      files.find(({ path }) => path.endsWith(`/${one.name}.${format}`)),
    )
    return csv ? [{ ...one, csv, parquet }] : []
  })
  const ofTables = new Set(listed.flatMap(({ csv, parquet }) => [csv, parquet]))
  const others = files.filter((file) => !ofTables.has(file))
  return {
    title: words.nav.data,
    description: data.intro,
    section: 'data',
    head: datasetOf(view, {
      name: `${withColon(view, view.publisherName)} ${words.openData}`,
      description: data.intro,
    }),
    main: html`<h1>${words.nav.data}</h1><p class="lead">${data.intro}</p>
<p class="kind">${home.freshness(dayName(view, release.manifest.generated))} <a href="/feeds/manifest.json">manifest.json</a> · <a href="${to(view, 'developers')}">${words.nav.developers}</a></p>
<h2>${home.files}</h2>
${table(
  { shown: home.files },
  headOf(view),
  others.map((file) => fileRow(view, file)),
)}
${listed.length > 0 ? html`<h2 id="tables">${data.tables}</h2>` : undefined}
${table(
  { shown: data.tables },
  headOf(view),
  listed.map((one) => tableRow(view, one)),
)}
${listed.map((one) => columnsOf(view, one))}`,
  }
}

function headOf({ words: { home } }: View): string[] {
  return [home.file, home.records, home.size]
}

function fileRow(view: View, file: ManifestFile, name = pathLink(file.path)): Html {
  return row(name, [countText(view, file.records), size(view, file.bytes)])
}

type ListedTable = Table & { readonly csv: ManifestFile; readonly parquet: ManifestFile | undefined }

/** A table with what a row of it is, in both forms. */
function tableRow(view: View, { name, csv, parquet }: ListedTable): Html {
  const { data } = view.words
  const what = html`<code>${name}</code> <a href="${csv.path}">CSV</a>${parquet && html` <a href="${parquet.path}">Parquet</a>`}<br>${withColon(view, data.row)} ${data.rows[name]}`
  return fileRow(view, csv, what)
}

/** What each column says, in English alone; the data package has their places in the XML and their code lists. */
function columnsOf({ words: { data }, language }: View, { name, columns }: ListedTable): Html {
  const items = columns.map((one) => html`<dt><code>${one.name}</code></dt><dd>${meaningOf(one)}</dd>\n`)
  const spoken = language === 'en' ? undefined : html` lang="en" dir="ltr"`
  return html`<details><summary>${data.columns(name)}</summary><dl class="facts"${spoken}>
${items}</dl></details>
`
}
