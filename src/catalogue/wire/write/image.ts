import { type PhotoRenditions, type ProjectGraph, renditions } from '../../../kernel/project.js'
import { integer, list, object, string, type WireObject, webAddress } from './wire-value.js'

/** The project's main image: id 0, always six links. */
export function mainImage(graph: ProjectGraph): WireObject {
  const photo = graph.photos[0]
  const { project } = graph
  const title = project.imageTitle ?? photo?.title ?? project.title
  return imageRecord(0, title, imageLinks(photo?.renditions ?? {}, project.imageLink ?? ''))
}

/** An image; in XML its links precede its title, except in a gallery, where the order is as `given` here (wire.md 4.7). */
export function imageRecord(
  id: number,
  title: string,
  links: readonly WireObject[],
  xmlOrder: WireObject['xmlOrder'] = 'ascii',
): WireObject {
  return object(
    [
      ['title', string(title)],
      ['@id', integer(id)],
      ['imagelink', list(links)],
    ],
    xmlOrder,
  )
}

/** Six links in the fixed order (wire.md 3.4); a missing one shows the nearest, the larger of two, or else `fallback`. */
export function imageLinks(urls: PhotoRenditions, fallback: string): WireObject[] {
  return renditions.map((size, index) =>
    object([
      ['url', webAddress(nearestUrl(urls, index) ?? fallback)],
      ['@size', string(size)],
    ]),
  )
}

function nearestUrl(urls: PhotoRenditions, index: number): string | undefined {
  for (let distance = 0; distance < renditions.length; distance++) {
    for (const candidate of [renditions[index + distance], renditions[index - distance]]) {
      const url = candidate && urls[candidate]
      if (url) return url
    }
  }
  return undefined
}
