import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { isRightToLeft } from '../../kernel/right-to-left.js'
import { type Html, html, joinedHtml } from './html.js'
import { type Framed, type Language, type PageBody, to } from './page.js'
import { scriptAddress } from './script.js'
import { languages } from './words/words.js'

/** A whole page: head, navigation, content, languages. */
export function framed(view: Framed, body: PageBody): string {
  const { words, publisherName, brand, baseUrl, address } = view
  const title = body.section || address !== '/' ? `${body.title} – ${publisherName}` : body.title
  // English is what addresses without a language show to whoever asks for none.
  const canonicalIn = (code: Language) =>
    code === 'en' ? `${baseUrl}${address}` : `${baseUrl}/${code}${withoutSlash(address)}`
  const canonical = canonicalIn(view.language)
  const versions = [
    ...(Object.keys(languages) as Language[]).map((code) => [code, canonicalIn(code)]),
    ['x-default', canonicalIn('en')],
  ].map(([code, href]) => html`<link rel="alternate" hreflang="${code}" href="${href}">\n`)
  return html`<!doctype html>
<html lang="${words.code}" dir="${isRightToLeft(words.code) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${body.description}">
${body.isUnlisted ? html`<meta name="robots" content="noindex, follow">\n` : undefined}<link rel="canonical" href="${canonical}">
${versions}<link rel="icon" href="${brand.icon}">
<link rel="stylesheet" href="${brand.style.address}">
<script src="${scriptAddress}" defer data-sort="${words.tables.sort}" data-filter="${words.tables.filter}"></script>
<meta property="og:site_name" content="${publisherName}">
<meta property="og:title" content="${body.title}">
<meta property="og:description" content="${body.description}">
<meta property="og:url" content="${canonical}">
${body.head}</head>
<body>
<a class="skip" href="#content">${words.skip}</a>
<header class="top"><div class="wide">
<a class="name" href="${view.prefix === '' ? '/' : view.prefix}">${brand.logo && html`<img class="logo" src="${brand.logo.address}" alt="">`}<span dir="auto">${publisherName}</span> <small>${words.openData}</small></a>
${view.hasPortal === false ? undefined : html`${navigation(view, body, shownFirst)}${languageLinks(view)}`}</div></header>
<main id="content" class="wide">
${view.release && isDemoPublisher(view.release.manifest.publisher.ref) ? html`<p class="trial" role="note">${words.trial}</p>\n` : undefined}${body.main}
</main>
<footer class="bottom"><div class="wide">
${view.release && html`<p>${words.footer(view.release.id)}${view.licence && html` ${words.underLicence(html`<a href="${view.licence.path}" rel="license">${view.licence.title ?? view.licence.name ?? view.licence.path}</a>`)}`}</p>`}
${view.release && publisherLine(view, view.release)}
${view.hasPortal === false ? undefined : navigation(view, body, shownLast)}
</div></footer>
</body>
</html>
`.html
}

const shownFirst = ['projects', 'data', 'quality', 'developers'] as const
const shownLast = ['changes', 'status'] as const

/** Who publishes, how to reach them, and who answers for what. */
function publisherLine({ words, contact }: Framed, { manifest: { publisher } }: NonNullable<Framed['release']>): Html {
  const ways = [
    ...(contact?.email ? [html`<a href="mailto:${contact.email}">${contact.email}</a>`] : []),
    ...(contact?.page ? [html`<a href="${contact.page}" rel="external">${contact.page}</a>`] : []),
  ]
  return html`<p>${words.publisher(html`<span dir="auto">${publisher.name}</span>`, html`<code>${publisher.ref}</code>`)} ${ways.length === 0 ? undefined : words.contact(joinedHtml(ways, ' · '))} ${words.guarantee}</p>`
}

function navigation(view: Framed, body: PageBody, names: typeof shownFirst | typeof shownLast): Html {
  const links = names.map(
    (name) =>
      html`<li><a href="${to(view, name)}"${body.section === name ? html` aria-current="page"` : undefined}>${view.words.nav[name]}</a></li>\n`,
  )
  const label = names === shownLast ? view.words.nav.more : view.words.nav.label
  return html`<nav aria-label="${label}"><ul>
${links}</ul></nav>`
}

function languageLinks(view: Framed): Html {
  const links = Object.entries(languages).map(([code, words]) =>
    code === view.language
      ? html`<li><span aria-current="true" lang="${code}">${words.language}</span></li>\n`
      : html`<li><a href="${`/${code}${withoutSlash(view.address)}`}" hreflang="${code}" lang="${code}">${words.language}</a></li>\n`,
  )
  return html`<details class="languages"><summary><span class="hidden">${view.words.languages}: </span>${view.words.language}</summary><nav aria-label="${view.words.languages}"><ul>
${links}</ul></nav></details>`
}

function withoutSlash(address: string): string {
  return address === '/' ? '' : address.replace(/^\/(?=\?)/, '')
}
