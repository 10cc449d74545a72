import pLimit from 'p-limit'
import { chunksOf, type HttpClient, joined } from '../../platform/outgoing/http-client.js'

// What a camera makes; more is a mistake or an attack.
const maxBytes = 16 * 1_048_576
const maxPixels = 50_000_000
// A counting pixel is no picture.
const minEdge = 32
// The widest place of a page has 480 pixels.
const edge = 640
const totalMs = 30_000
const decodeSeconds = 20
const redirects = 3

/**
 * Fetches a picture (JPEG, PNG, WebP or GIF by its bytes) and encodes it anew as WebP of at most 640 by 640, turned as it is meant
 * to be seen and without what else was in the file. Throws when it cannot be had or is none.
 */
export async function fetchPicture(client: HttpClient, url: string, signal: AbortSignal): Promise<Buffer> {
  const headers = { accept: 'image/webp,image/jpeg,image/png,image/gif' }
  const answer = await client.send(url, { headers, signal, totalMs, redirects })
  if (answer.status !== 200) {
    answer.body.destroy()
    throw new Error(`the server answered ${answer.status}`)
  }
  const bytes = await joined(chunksOf(answer, maxBytes, () => new Error(`it has more than ${maxBytes} bytes`)))
  return await inTurn(() => encodeAnew(bytes))
}

// The worst picture takes some hundred MB.
const inTurn = pLimit(1)

let loaded: Promise<typeof import('sharp')['default']> | undefined

/** Loaded with the first picture: most processes fetch none. */
async function load() {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  // A job beside others: one thread a picture.
  sharp.concurrency(1)
  // Of the many formats of the library those of the web alone: SVG, for one, would be drawn.
  sharp.block({ operation: ['VipsForeignLoad'] })
  const formats = ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`)
  sharp.unblock({ operation: formats })
  return sharp
}

async function encodeAnew(bytes: Buffer): Promise<Buffer> {
  loaded ??= load()
  const sharp = await loaded
  const { data, info } = await sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
    .timeout({ seconds: decodeSeconds })
    .autoOrient()
    .resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 75 })
    .toBuffer({ resolveWithObject: true })
  if (Math.min(info.width, info.height) < minEdge) throw new Error(`it is ${info.width} by ${info.height} pixels small`)
  return data
}
