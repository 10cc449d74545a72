import { fileTable } from '../../../http/pages/developers.js'
import { type Html, html } from '../../../http/pages/html.js'
import { datasetOf } from '../../../http/pages/linked-data.js'
import { dayText, type PageBody, to, withColon } from '../../../http/pages/page.js'
import { isPart } from '../../../iati/addresses.js'
import { meaningOf } from '../../../iati/tables/meanings.js'
import { type Table, tables } from '../../../iati/tables/tables.js'
import type { ManifestFile } from '../../../release/read/manifest.js'
import type { View } from '../view.js'

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
<p class="kind">${withColon(view, home.published)} ${dayText(view, release.manifest.generated)} <a href="/feeds/manifest.json">manifest.json</a> · <a href="${to(view, 'developers')}">${words.nav.developers}</a></p>
<h2>${home.files}</h2>
${fileTable(view, home.files, others)}
${listed.length > 0 ? html`<h2 id="tables">${data.tables}</h2>` : undefined}
${fileTable(
  view,
  data.tables,
  listed.map(({ csv }) => csv),
  listed.map((one) => tableName(view, one)),
)}
${listed.map((one) => columnsOf(view, one))}`,
  }
}

type ListedTable = Table & { readonly csv: ManifestFile; readonly parquet: ManifestFile | undefined }

/** A table with what a row of it is, in both forms. */
function tableName(view: View, { name, csv, parquet }: ListedTable): Html {
  const { data } = view.words
  return html`<code>${name}</code> <a href="${csv.path}">CSV</a>${parquet && html` <a href="${parquet.path}">Parquet</a>`}<br>${data.rows[name]}`
}

/** What each column says, in English alone; the data package has their places in the XML and their code lists. */
function columnsOf({ words: { data }, language }: View, { name, columns }: ListedTable): Html {
  const items = columns.map((one) => html`<dt><code>${one.name}</code></dt><dd>${meaningOf(one)}</dd>\n`)
  const spoken = language === 'en' ? undefined : html` lang="en" dir="ltr"`
  return html`<details><summary>${data.columns(name)}</summary><dl class="facts"${spoken}>
${items}</dl></details>
`
}
