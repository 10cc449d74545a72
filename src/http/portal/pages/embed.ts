import { isDemoPublisher } from '../../../kernel/demo-publisher.js'
import { html } from '../html.js'
import { findEntry } from '../read-project.js'
import { to, type View } from '../view.js'
import { projectCard } from './parts.js'

/** `/embed/projects/{id}`: a project as a card for pages of others; undefined when there is no such project. */
export function embedPage(view: View, id: string): string | undefined {
  const entry = findEntry(view, id)
  if (!entry) return undefined
  const { words, publisherName, brand, baseUrl, release } = view
  const home = `${baseUrl}${to(view, 'projects', id)}`
  return html`<!doctype html>
<html lang="${words.code}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${entry.title}</title>
<meta name="robots" content="noindex, follow">
<link rel="canonical" href="${home}">
<link rel="icon" href="${brand.icon.address}" type="image/svg+xml">
<link rel="stylesheet" href="${brand.style.address}">
<base target="_blank">
</head>
<body class="embed">
<main><ul class="cards">${projectCard(view, entry, 'h1', [])}</ul>
${isDemoPublisher(release.manifest.publisher.ref) ? html`<p class="trial" role="note">${words.trial}</p>\n` : undefined}<p class="kind"><a href="${home}"><span dir="auto">${publisherName}</span>: ${words.openData}</a></p></main>
</body>
</html>
`.html
}
