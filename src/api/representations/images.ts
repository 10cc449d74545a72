import type { Gallery } from '../../store/catalogue/photos.js'
import { imageLinks } from '../../wire/write/image.js'
import { type Format, integer, list, record, string, wireDocument, wireText, wrapper } from '../../wire/write/wire.js'

/**
 * The image gallery (wire.md 4.7). Its first image is the main image, id 0, for a client drops the first one; here
 * the title precedes the links.
 */
export function imagesDocument(format: Format, gallery: Gallery): string {
  const { photos, imageLink } = gallery
  const main = photos.find((photo) => photo.position === 0)
  const hasMain = main !== undefined || imageLink !== undefined || photos.length > 0
  const others = photos.filter((photo) => photo !== main)
  const standIn = main ?? others[0]
  const images = [
    ...(hasMain
      ? [
          image(
            0,
            gallery.imageTitle ?? standIn?.title ?? gallery.title,
            imageLinks(standIn?.renditions ?? {}, imageLink ?? ''),
          ),
        ]
      : []),
    ...others.map((photo) => image(photo.wireId, photo.title ?? gallery.title, imageLinks(photo.renditions, ''))),
  ]
  return wireDocument(format, 'images', wireText('images', wrapper('image', images)))
}

function image(id: number, title: string, links: ReturnType<typeof imageLinks>) {
  return record(
    [
      ['title', string(title)],
      ['@id', integer(id)],
      ['imagelink', list(links)],
    ],
    'given',
  )
}
