import { type Html, html } from '../../../http/pages/html.js'
import { table } from '../../../http/pages/page.js'
import { lookupTable } from '../../../kernel/lookup-table.js'
import { grouped } from '../../../kernel/money.js'
import { consoleStyleAddress } from '../style.js'

const sections = {
  overview: '/',
  releases: '/releases',
  runs: '/runs',
  held: '/held',
  facts: '/facts',
  donations: '/donations',
  imports: '/imports',
  sources: '/sources',
  queues: '/queues',
  audit: '/audit',
  accounts: '/accounts',
} as const

export type Section = keyof typeof sections

/** Where a browser forgets with which name and token it was let in. */
export const signOutPath = '/sign-out'

/** A whole page of the console. */
export function consolePage(title: string, main: Html | readonly Html[], section?: Section, done?: string): string {
  const links = Object.entries({ ...sections, 'sign out': signOutPath }).map(
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
${done && html`<p class="done" role="status">${done}</p>\n`}${main}
</main>
</body>
</html>
`.html
}

/** The page of who has signed out, or was never asked for a token. */
export function signedOut(wasAsked: boolean): string {
  const what = wasAsked
    ? 'This browser is let in again when it is given a name and its token.'
    : 'Nobody signs in here: without OPS_TOKEN the console answers at addresses of this machine only.'
  return consolePage('Signed out', html`<p>${what}</p>\n<p><a href="/">To the overview</a></p>`)
}

/** The page of a request that was not carried out. */
export function refusal(why: string): string {
  return consolePage('Not done', html`<p class="needs">${why}</p>\n<p><a href="/">Back to the overview</a></p>`)
}

/** A value of a thing: numbers are grouped, instants have their zone, nothing is a dash. */
export type Value = Html | string | number | Date | undefined

function shown(value: Value): Html {
  if (value instanceof Date) return shownInstant(value)
  if (typeof value === 'number') return html`${grouped(String(value))}`
  return value === undefined ? html`–` : typeof value === 'string' ? withIds(value) : value
}

/** A text whose ids of releases are in one line each, so that they are read and copied whole. */
export function withIds(text: string): Html {
  const parts = text.split(/(\d{8}T\d{6}Z-\d+)/)
  return html`${parts.map((part, at) => (at % 2 === 0 ? html`${part}` : html`<span class="id">${part}</span>`))}`
}

/** A table with a row for each thing, or a sentence that there is none; the first `texts` columns are texts, the others numbers. */
export function listed(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly Value[])[],
  texts = heads.length,
): Html {
  if (rows.length === 0) return html`<p>${caption}: none.</p>`
  const cell = (value: Value, at: number) =>
    at === 0
      ? html`<th scope="row">${shown(value)}</th>`
      : html`<td${at >= texts ? html` class="number"` : undefined}>${shown(value)}</td>`
  const lines = rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`)
  return table(caption, heads, lines, texts)
}

/** What is known of a thing; what is not known is left out. */
export function facts(known: readonly (readonly [name: string, value: Value])[]): Html {
  const lines = known.flatMap(([name, value]) =>
    value === undefined ? [] : [html`<dt>${name}</dt><dd>${shown(value)}</dd>\n`],
  )
  return html`<dl class="facts">${lines}</dl>`
}

/** A size as a person reads it. */
export function shownBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}

/** XML as a person reads it: names, values of attributes and texts. */
export function withoutMarkup(xml: string | undefined): string | undefined {
  return xml
    ?.replaceAll(/<\/[^>]*>|<\/?[^>]*$|<\/?narrative\s*>/g, ' ')
    .replaceAll(/<([\w:-]+)((?:\s+[\w:-]+="[^"]*")*)\s*\/?>/g, (_, name: string, attributes: string) => {
      const said = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, member, value]) => `${member} ${value}`)
      return ` ${name === 'narrative' ? '' : name}${said.length > 0 ? ` (${said.join(', ')})` : ''}: `
    })
    .replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => signs[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const signs = lookupTable({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })

const tones = lookupTable<string>({
  published: 'good',
  unchanged: 'good',
  done: 'good',
  live: 'good',
  settled: 'good',
  valid: 'good',
  enabled: 'good',
  ...{ running: 'busy', queued: 'busy', received: 'busy', starting: 'busy' },
  ...{ held: 'wait', paused: 'wait', unfinished: 'wait', disputed: 'wait', undone: 'wait' },
  ...{ failed: 'bad', refused: 'bad', declined: 'bad', expired: 'bad', revoked: 'bad', disabled: 'bad' },
})

/** A state in its word and a colour. */
export function shownState(state: string, more: string | undefined = undefined, tone = tones[state]): Html {
  return html`<span class="state ${tone ?? 'plain'}">${state}</span>${more && `: ${more}`}`
}

/** An instant to the second, with its zone. */
export function shownInstant(at: Date | undefined): Html {
  if (!at) return html`–`
  const text = at.toISOString()
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')} UTC</time>`
}

/** A duration in words that a person reads at a glance. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '–'
  if (seconds < 59.95) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return seconds < 86_400 ? `${Math.round(seconds / 360) / 10} h` : `${Math.round(seconds / 8640) / 10} days`
}

/** A form that asks the page at an address for some of its rows; '' is no choice. */
export function filterForm(address: string, fields: readonly Html[]): Html {
  return html`<form class="filters" action="${address}">${fields}<div><button>Show</button></div></form>`
}

/** The first and the last day of a list; '' is no limit. */
export function dayFields(since: string, until: string): Html {
  const field = (name: string, text: string, value: string) =>
    html`<div><label for="${name}">${text}</label><input id="${name}" name="${name}" type="date" value="${value}"></div>\n`
  return html`${field('since', 'From', since)}${field('until', 'Until', until)}`
}

/** A choice of a filter. */
export function choiceField(name: string, text: string, values: readonly string[], chosen: string | undefined): Html {
  const options = values.map(
    (value) => html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${value}</option>`,
  )
  return html`<div><label for="${name}">${text}</label><select id="${name}" name="${name}"><option value="">all</option>${options}</select></div>\n`
}

/** When the page was read, and links that read it again: once, or by itself every 15 seconds. */
export function readAgain(now: Date, address: string, isLive: boolean): Html {
  const mark = address.includes('?') ? '&' : '?'
  const live = isLive
    ? html`It is read again every ${String(liveSeconds)} s: <a href="${address}">stop</a>`
    : html`<a href="${address}">Read again</a>, or <a href="${address}${mark}live=yes">every ${String(liveSeconds)} s</a>`
  return html`<p class="path">Read at ${shownInstant(now)}. ${live}.</p>`
}

/** How often a page is read again that a person asked to be. */
export const liveSeconds = 15

/** The link to the page that asks before it does something. */
export function button(address: string, text: string): Html {
  return html`<a class="button" href="${address}">${text}</a>`
}
