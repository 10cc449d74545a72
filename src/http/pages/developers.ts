import { isReportArchive, publicKeyPath, themeListPaths } from '../../iati/addresses.js'
import { type Assumptions, donorsName } from '../../iati/mapping/mapping-config.js'
import type { ThemeRecord } from '../../kernel/record.js'
import type { Manifest, ManifestFile } from '../../release/read/manifest.js'
import { type Html, html } from './html.js'
import { datasetOf } from './linked-data.js'
import {
  countText,
  type Framed,
  type PageBody,
  pathLink,
  row,
  table,
  tile,
  timeText,
  unitText,
  withColon,
} from './page.js'

/** The facts on the page for developers that are not of the release. */
export type DeveloperFacts = {
  readonly themes: readonly ThemeRecord[]
  readonly assumed: Assumptions
  /** Whether people may make an account of their own. */
  readonly takesAccounts: boolean
}

/** `/developers`: the files, what is not published and why, how to read all of it. */
export async function developersPage(
  view: Framed,
  { themes, assumed, takesAccounts }: DeveloperFacts,
): Promise<PageBody> {
  const { developers: words } = view.words
  const title = `${withColon(view, view.publisherName)} ${view.words.openData}`
  const { release } = view
  const manifest = release?.manifest
  const { intro } = view.words.data
  const dataset = release && datasetOf({ ...view, release }, { name: title, description: intro })
  const publicKey = await release?.find(publicKeyPath)
  return {
    title,
    description: intro,
    section: 'developers',
    head: html`<link rel="alternate" type="application/atom+xml" title="${view.words.project.reports}" href="/feeds/reports.atom">\n${dataset}`,
    main: html`<h1>${title}</h1>
<p class="lead">${intro}</p>
${manifest ? releaseSections(view, manifest) : html`<section><h2 id="files">${view.words.home.files}</h2>\n<p>${words.nothing}</p></section>`}
${publicKey && keySection(view, await publicKey.identity.text())}
${policySection(view)}
${assumptionSection(view, assumed)}
${view.address === '/' ? themeSection(view, themes) : undefined}
${developerSection(view, takesAccounts)}`,
  }
}

function keySection({ words, baseUrl }: Framed, publicKey: string): Html {
  const { signature, compareKey, provedBy } = words.developers
  return html`<section><h2 id="key">${signature}</h2>
<p>${compareKey(html`<a href="${publicKeyPath}">${publicKeyPath}</a>`)}</p>
<pre tabindex="0"><code>${publicKey}</code></pre>
<p>${provedBy(html`<code>giving verify ${baseUrl} --key publisher.pem</code>`)}</p></section>`
}

function releaseSections(view: Framed, manifest: Manifest): Html {
  const { developers: words, home, quality, changes, status } = view.words
  const files = manifest.files.filter(({ path }) => !isReportArchive(path))
  const { projectFeeds } = manifest
  const named = html`<a href="/feeds/manifest.json">manifest.json</a>`
  const feeds = words.projectFeeds(
    html`<code>/feeds/projects/{id}/reports.atom</code>`,
    html`<a href="${projectFeeds.index}">${projectFeeds.index}</a>`,
    countText(view, projectFeeds.count),
  )
  return html`<section><h2 id="release">${status.live}</h2>
<dl class="tiles">
${tile(home.published, timeText(view, manifest.generated))}
${tile(quality.activities, countText(view, manifest.totals.activities))}
${tile(changes.held, manifest.held.count === 0 ? view.words.none : html`${countText(view, manifest.held.count)} (${named})`)}
${tile(changes.release, html`<code>${manifest.release}</code>`)}
</dl></section>
<section><h2 id="files">${home.files}</h2>
${fileTable(view, home.files, files)}
${projectFeeds.count > 0 ? html`<p>${feeds}</p>` : undefined}
<p>${words.everything(named)}</p></section>`
}

/** Files with what is in them, under their paths or other names. */
export function fileTable(
  view: Framed,
  title: string,
  files: readonly ManifestFile[],
  names: readonly Html[] = [],
): Html {
  const { home } = view.words
  const rows = files.map(({ path, records, bytes }, at) =>
    row(names[at] ?? pathLink(path), [
      countText(view, records),
      html`<data value="${bytes}">${size(view, bytes)}</data>`,
    ]),
  )
  return table({ shown: title }, [home.file, home.records, home.size], rows)
}

/** A size for people: decimal units, one digit after the point. */
function size(view: Pick<Framed, 'language'>, bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
  let value = bytes
  let unit = 0
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return unitText(view, value, units[unit] ?? 'byte', unit === 0 ? 0 : 1)
}

// This anchor must stay: document links of category B08 refer to it.
export function policySection({ words: { home } }: Framed): Html {
  return html`<section><h2 id="exclusions">${home.exclusions}</h2>
<ul>
${home.excluded.map((text) => html`<li>${text}</li>\n`)}</ul></section>`
}

function assumptionSection({ words, publisherName }: Framed, assumed: Assumptions): Html {
  const { assumptions, assumedDonors, assumedType, assumedCategory } = words.developers
  const said = [
    assumedDonors(donorsName(assumed, publisherName)),
    assumedType(assumed.partnerType),
    assumedCategory(assumed.documentCategory),
  ]
  return html`<section><h2 id="assumptions">${assumptions}</h2>
<ul>
${said.map((text) => html`<li>${text}</li>\n`)}</ul></section>`
}

/** What the vocabulary of themes is, with its lists. */
export function themeNote({ words }: Pick<Framed, 'words'>): Html {
  const { xml, json } = themeListPaths
  return words.developers.themes(html`<a href="${xml}">XML</a>`, html`<a href="${json}">JSON</a>`)
}

// Where this page stands at `/`, whose anchor is the vocabulary-uri of sectors (iati.md 7.2).
function themeSection(view: Framed, themes: readonly ThemeRecord[]): Html {
  const { groups, quality } = view.words
  const rows = themes.map(({ id, name }) => html`<tr><th scope="row"><code>${id}</code></th><td>${name}</td></tr>\n`)
  return html`<section><h2 id="themes">${groups.themes}</h2>
<p>${themeNote(view)}</p>
${rows.length > 0 ? table(groups.themes, [quality.code, groups.name], rows, 2) : undefined}</section>`
}

function developerSection({ words: { developers: words, nav }, baseUrl }: Framed, takesAccounts: boolean): Html {
  const methods = html`<code>HEAD</code>, <code>If-None-Match</code>, <code>Range</code>, <code>Accept-Encoding: gzip</code>`
  return html`<section><h2 id="developers">${nav.developers}</h2>
<p>${words.noKey(methods)}</p>
<pre tabindex="0"><code>curl --compressed -O ${baseUrl}/iati/activities.xml</code></pre>
<p>${words.oneActivity(html`<a href="/iati/index.json">index.json</a>`)}</p>
<pre tabindex="0"><code>curl ${baseUrl}/iati/activities/IDENTIFIER.json</code></pre>
<p>${words.api(html`<code>api_key</code>`)}</p>
<pre tabindex="0"><code>curl -H 'Accept: application/json' '${baseUrl}/api/public/projectservice/all/projects?api_key=YOUR_KEY'</code></pre>
<p>${words.describe(html`<a href="/api/docs">/api/docs</a> (<a href="/api/openapi-json">OpenAPI 3.1</a>)`)} ${takesAccounts ? words.account(html`<code>POST /api/userservice/accounts</code>`, html`<code>POST /api/userservice/keys</code>`) : undefined}</p></section>`
}
