import { escapeText } from '../../../kernel/xml/writer.js'
import type { View } from '../view.js'
import { groupPages } from './group.js'

// The most that the protocol allows in one sitemap.
const mostAddresses = 50_000

/** `/sitemap.xml`, which names the others, or one of them with the addresses of pages; undefined when there is no such one. */
export function sitemap({ address, baseUrl, projectIndex, release }: View): string | undefined {
  const paths = ['/', '/projects', '/years', '/data', '/quality', '/changes', '/developers']
  for (const kind of groupPages) {
    paths.push(`/${kind}`)
    for (const key of projectIndex.groups[kind].keys()) paths.push(`/${kind}/${encodeURIComponent(key)}`)
  }
  const { generated } = release.manifest
  const total = paths.length + projectIndex.all.places.length
  const pages = Math.ceil(total / mostAddresses)
  if (address === '/sitemap.xml') {
    const items = Array.from({ length: pages }, (_, at) =>
      item('sitemap', `${baseUrl}/sitemap-${at + 1}.xml`, generated),
    )
    return document('sitemapindex', items)
  }
  const page = Number(/^\/sitemap-([1-9]\d{0,8})\.xml$/.exec(address)?.[1] ?? 0)
  if (page < 1 || page > pages) return undefined
  const items: string[] = []
  for (let at = (page - 1) * mostAddresses; at < Math.min(total, page * mostAddresses); at++) {
    const place = at - paths.length
    const path = paths[at] ?? `/projects/${projectIndex.project(place)}`
    items.push(item('url', `${baseUrl}${path}`, projectIndex.changed(place) ?? generated))
  }
  return document('urlset', items)
}

function item(name: string, address: string, changed: string): string {
  return `<${name}><loc>${escapeText(address)}</loc><lastmod>${changed}</lastmod></${name}>\n`
}

function document(root: string, items: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${items.join('')}</${root}>\n`
}
