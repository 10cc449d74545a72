import { type Html, html } from '../../portal/html.js'
import { table } from '../../portal/view.js'
import { consoleStyleAddress } from '../style.js'

const sections = {
  overview: '/',
  releases: '/releases',
  runs: '/runs',
  held: '/held',
  imports: '/imports',
  sources: '/sources',
  queues: '/queues',
} as const

export type Section = keyof typeof sections

/** A whole page of the console. */
export function consolePage(title: string, main: Html | readonly Html[], section?: Section): string {
  const links = Object.entries(sections).map(
    ([name, address]) =>
      html`<li><a href="${address}"${name === section ? html` aria-current="page"` : undefined}>${name[0]?.toUpperCase()}${name.slice(1)}</a></li>\n`,
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – giving console</title>
<link rel="stylesheet" href="${consoleStyleAddress}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wide">
<a class="name" href="/">giving <small>console</small></a>
<nav aria-label="Sections"><ul>
${links}</ul></nav></div></header>
<main id="content" class="wide">
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`.html
}

/** The page of a request that was not carried out. */
export function refusal(why: string): string {
  return consolePage('Not done', html`<p class="needs">${why}</p>\n<p><a href="/">Back to the overview</a></p>`)
}

/** A table, or a sentence that there is nothing; the first `texts` columns are texts, the others numbers. */
export function listed(caption: string, heads: readonly string[], rows: readonly Html[], texts = heads.length): Html {
  return rows.length > 0 ? table(caption, heads, rows, texts) : html`<p>${caption}: none.</p>`
}

/** An instant to the second, in UTC. */
export function shownInstant(at: Date | undefined): Html {
  if (!at) return html`–`
  const text = at.toISOString()
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')}</time>`
}

/** A duration in words that a person reads at a glance. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '–'
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
  return seconds < 86_400 ? `${Math.round(seconds / 360) / 10} h` : `${Math.round(seconds / 8640) / 10} days`
}

/** The link to the page that asks before it does something. */
export function button(address: string, text: string): Html {
  return html`<a class="button" href="${address}">${text}</a>`
}
