import type { PhotoRenditions, ProjectGraph } from '../../domain/project.js'
import { integer, list, record, string, type WireRecord } from './wire.js'

/** Names of the six renditions in the order that clients index by (wire.md 3.4). */
export const imageSizes = ['small', 'thumbnail', 'medium', 'large', 'extraLarge', 'original'] as const

/** The project's main image: id 0, always six links; links precede the title in XML. */
export function mainImage(graph: ProjectGraph): WireRecord {
  const photo = graph.photos[0]
  const { project } = graph
  return record([
    ['title', string(project.imageTitle ?? photo?.title ?? project.title)],
    ['@id', integer(0)],
    ['imagelink', list(imageLinks(photo?.renditions ?? {}, project.imageLink ?? ''))],
  ])
}

/** Six links whatever is missing: the nearest rendition stands in (the larger one of two), then `fallback`. */
export function imageLinks(renditions: PhotoRenditions, fallback: string): WireRecord[] {
  return imageSizes.map((size, index) =>
    record([
      ['url', string(nearestRendition(renditions, index) ?? fallback)],
      ['@size', string(size)],
    ]),
  )
}

function nearestRendition(renditions: PhotoRenditions, index: number): string | undefined {
  for (let distance = 0; distance < imageSizes.length; distance++) {
    for (const candidate of [imageSizes[index + distance], imageSizes[index - distance]]) {
      const url = candidate && renditions[candidate]
      if (url) return url
    }
  }
  return undefined
}
