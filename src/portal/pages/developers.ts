import type { ThemeRecord } from '../../domain/record.js'
import { isReportArchive, themeListPaths } from '../../feeds/addresses.js'
import type { Manifest, ManifestFile } from '../../publishing/release/read/manifest.js'
import { type Html, html } from '../html.js'
import type { PageBody } from '../view.js'
import type { ShownRun } from './status.js'

/** The facts on the page for developers. */
export type DeveloperFacts = {
  readonly publisherName: string
  readonly baseUrl: string
  /** Absent before the first release. */
  readonly manifest?: Manifest | undefined
  readonly lastRun?: ShownRun | undefined
  readonly themes: readonly ThemeRecord[]
}

/** `/developers`: the files, what is not published and why, the last run, how to read all of it. */
export function developersPage(facts: DeveloperFacts): PageBody {
  const title = `${facts.publisherName}: open data`
  return {
    title,
    description: 'Projects and money as IATI 2.03, progress reports as Atom, published every day.',
    section: 'developers',
    head: html`<link rel="alternate" type="application/atom+xml" title="Progress reports" href="/feeds/reports.atom">\n`,
    main: html`<div lang="en"><h1>${title}</h1>
<p class="lead">What this giving platform did, published every day: projects and money as IATI 2.03, progress reports as Atom.</p>
${facts.manifest ? releaseSections(facts.manifest) : firstReleaseSection()}
${policySection()}
${themeSection(facts.themes)}
${runSection(facts.lastRun)}
${developerSection(facts.baseUrl)}</div>`,
  }
}

function firstReleaseSection(): Html {
  return html`<section><h2 id="files">Files</h2>
<p>Nothing has been published yet: the first release is being built. Please come back in a minute.</p></section>`
}

function releaseSections(manifest: Manifest): Html {
  return html`<section><h2 id="release">Current release</h2>
<dl class="tiles">
<div class="tile"><dt>Published</dt><dd>${time(manifest.generated)}</dd></div>
<div class="tile"><dt>Activities</dt><dd>${count(manifest.totals.activities)}</dd></div>
<div class="tile"><dt>Held back</dt><dd>${heldText(manifest)}</dd></div>
<div class="tile"><dt>Release</dt><dd><code>${manifest.release}</code></dd></div>
</dl></section>
<section><h2 id="files">Files</h2>
<div class="scroll" role="region" aria-labelledby="files" tabindex="0"><table>
<caption>“Latest” always gives the newest file; “this version” never changes.</caption>
<thead><tr><th scope="col">Latest</th><th scope="col">This version</th><th scope="col">Records</th><th scope="col">Size</th><th scope="col">Compressed</th><th scope="col">Changed</th></tr></thead>
<tbody>
${manifest.files.filter(({ path }) => !isReportArchive(path)).map(fileRow)}
</tbody></table></div>
${projectFeeds(manifest)}
${reportArchives(manifest)}
<p>Register the files of activities one by one; <code>/iati/bulk/activities.xml</code> is all of them in one, for analysis.</p>
<p>Everything about this release, with checksums and findings, is in the
<a href="/feeds/manifest.json">manifest</a>.</p></section>`
}

function heldText(manifest: Manifest): Html {
  if (manifest.held.count === 0) return html`none`
  return html`${count(manifest.held.count)} (see <a href="/feeds/manifest.json">the manifest</a> for the reasons)`
}

function fileRow(file: ManifestFile): Html {
  return html`<tr><th scope="row"><a href="${file.path}">${file.path}</a></th>
<td><a href="${file.immutablePath}" aria-label="${`${file.sha256.slice(0, 12)}: this version of ${file.path}`}"><code>${file.sha256.slice(0, 12)}</code></a></td>
<td class="number">${count(file.records)}</td><td class="number">${size(file.bytes)}</td>
<td class="number">${size(file.gzipBytes)}</td><td>${time(file.lastModified)}</td></tr>
`
}

function projectFeeds(manifest: Manifest): Html {
  if (manifest.projectFeeds.count === 0) return html``
  return html`<p>${count(manifest.projectFeeds.count)} projects have a feed of their own at
<code>/feeds/projects/{id}/reports.atom</code>; <a href="${manifest.projectFeeds.index}">the index</a> lists them.</p>`
}

function reportArchives(manifest: Manifest): Html {
  const archives = manifest.files.filter(({ path }) => isReportArchive(path)).length
  if (archives === 0) return html``
  return html`<p>The feed of all reports goes back through ${count(archives)} archives (RFC 5005); the manifest lists them.</p>`
}

// This anchor must stay: document links of category B08 refer to it.
function policySection(): Html {
  return html`<section><h2 id="exclusions">What is not published, and why</h2>
<ul>
<li>Nothing about people who give: no names, messages or places. Their gifts are told by project and month.</li>
<li>No photo of people who have not agreed to worldwide publication.</li>
<li>Of projects whose people are at risk, no place but the country.</li>
<li>No names or addresses of contact persons, only of organisations.</li>
</ul></section>`
}

// This anchor must stay: it is the vocabulary-uri of sectors.
function themeSection(themes: readonly ThemeRecord[]): Html {
  const rows = themes.map(({ id, name }) => html`<tr><th scope="row"><code>${id}</code></th><td>${name}</td></tr>\n`)
  const table = html`<div class="scroll" role="region" aria-labelledby="themes" tabindex="0"><table>
<thead><tr><th scope="col">Code</th><th scope="col">Name</th></tr></thead>
<tbody>
${rows}
</tbody></table></div>`
  return html`<section><h2 id="themes">Themes</h2>
<p>Sectors of vocabulary 99 are this platform’s own themes. The list as <a href="${themeListPaths.xml}">XML</a> and
<a href="${themeListPaths.json}">JSON</a> needs no key.</p>
${themes.length > 0 ? table : undefined}</section>`
}

function runSection(run: ShownRun | undefined): Html {
  const text = run
    ? html`Run ${run.id} is <strong>${run.state}</strong>, ${time((run.finishedAt ?? run.startedAt ?? run.queuedAt).toISOString())}:
${count(run.rendered)} rendered, ${count(run.held)} held.`
    : html`There has been no run yet.`
  return html`<section><h2 id="run">Last run</h2>
<p>${text} <a href="/feeds/status.json">Status of the last runs</a>.</p></section>`
}

function developerSection(baseUrl: string): Html {
  return html`<section><h2 id="developers">For developers</h2>
<p>Files need no key. They answer <code>HEAD</code>, <code>If-None-Match</code>, <code>Range</code> and
<code>Accept-Encoding: gzip</code>.</p>
<pre tabindex="0"><code>curl --compressed -O ${baseUrl}/iati/activities.xml</code></pre>
<p>One activity has an address of its own, in XML and JSON; <a href="/iati/index.json">the index</a> lists all of them.</p>
<pre tabindex="0"><code>curl ${baseUrl}/iati/activities/IDENTIFIER.json</code></pre>
<p>The API speaks XML and JSON and needs an <code>api_key</code>, which the operator of this service issues.</p>
<pre tabindex="0"><code>curl -H 'Accept: application/json' '${baseUrl}/api/public/projectservice/all/projects?api_key=YOUR_KEY'</code></pre></section>`
}

function time(instant: string): Html {
  const text = `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`
  return html`<time datetime="${instant}">${text}</time>`
}

function count(value: number): string {
  return value.toLocaleString('en')
}

/** A size for people: decimal units, one digit after the point. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB'] as const
  let value = bytes / 1000
  let unit = 0
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}
