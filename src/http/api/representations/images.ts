import type { Gallery } from '../../../catalogue/sql/photos.js'
import { imageLinks, imageRecord } from '../../../catalogue/wire/write/image.js'
import { type Format, type WireObject, wireDocument, wrapper } from '../../../catalogue/wire/write/wire-value.js'

/** The image gallery (wire.md 4.7). Its first image repeats the main image, id 0, since a client drops the first one. */
export function imagesDocument(format: Format, gallery: Gallery): string {
  const { photos, imageLink } = gallery
  const main = photos.find((photo) => photo.position === 0)
  const others = photos.filter((photo) => photo !== main)
  const first = main ?? others[0]
  const images = others.map((photo) =>
    image(photo.wireId, photo.title ?? gallery.title, imageLinks(photo.renditions, '')),
  )
  if (first || imageLink !== undefined) {
    const title = gallery.imageTitle ?? first?.title ?? gallery.title
    images.unshift(image(0, title, imageLinks(first?.renditions ?? {}, imageLink ?? '')))
  }
  return wireDocument(format, 'images', wrapper('image', images))
}

function image(id: number, title: string, links: readonly WireObject[]): WireObject {
  return imageRecord(id, title, links, 'given')
}
