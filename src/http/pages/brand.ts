import { hash } from 'node:crypto'
import { type BrandColours, leastContrast } from '../../kernel/brand-colours.js'
import { lightenedTo } from '../../kernel/contrast.js'
import { ServiceError } from '../../kernel/errors.js'
import { icon } from './icon.js'
import type { Asset, Brand, Language } from './page.js'
import { style } from './style.js'
import { withOwnWords } from './words/own-words.js'
import { languages, type Words } from './words/words.js'

/** What an operator gives of a look: a picture, and words of languages, each with the file that they come from. */
export type OwnLook = {
  readonly colours?: BrandColours | undefined
  readonly logo?: { readonly file: string; readonly bytes: Buffer } | undefined
  readonly words?: readonly { readonly file: string; readonly language: string; readonly words: unknown }[]
}

// The paper of the dark scheme that links have the least contrast to.
const darkest = '#192326'
const builtInHead = '#0b4648'

/** The built-in look and words with an operator's own in place of some. Throws `configuration-invalid`. */
export function makeBrand({ colours, logo, words = [] }: OwnLook): Brand {
  return {
    style: asset('css', 'text/css', colours ? style + coloursOf(colours) : style),
    icon: `data:image/svg+xml,${encodeURIComponent(colours ? icon.replace(builtInHead, colours.head) : icon)}`,
    logo: logo && pictureOf(logo),
    words: { ...languages, ...Object.fromEntries(words.map((own): [string, Words] => [own.language, wordsOf(own)])) },
  }
}

/** The colours of both schemes: links and bars of the dark one have the same hue. */
function coloursOf({ head, link }: BrandColours): string {
  const light = lightenedTo(leastContrast, link, darkest)
  return `:root { --top: ${head}; --link: ${link}; --in: ${link}; }
@media (prefers-color-scheme: dark) { :root { --top: ${head}; --link: ${light}; --in: ${light}; } }
`
}

function asset(ending: string, mediaType: string, bytes: string | Buffer): Asset {
  return { address: `/portal/${hash('sha256', bytes).slice(0, 12)}.${ending}`, mediaType, bytes }
}

const formats: readonly { readonly ending: string; readonly mediaType: string; readonly begins: RegExp }[] = [
  { ending: 'png', mediaType: 'image/png', begins: /^.PNG\r\n/s },
  { ending: 'jpg', mediaType: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { ending: 'webp', mediaType: 'image/webp', begins: /^RIFF.{4}WEBP/s },
  { ending: 'svg', mediaType: 'image/svg+xml', begins: /^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<svg)/ },
]

function pictureOf({ file, bytes }: NonNullable<OwnLook['logo']>): Asset {
  const format = formats.find(({ begins }) => begins.test(bytes.toString('latin1', 0, 200)))
  if (format) return asset(format.ending, format.mediaType, bytes)
  throw new ServiceError('configuration-invalid', `PORTAL_LOGO: expected a picture (SVG, PNG, JPEG, WebP), got ${file}`)
}

function wordsOf({ file, language, words }: NonNullable<OwnLook['words']>[number]): Words {
  if (isLanguage(language)) return withOwnWords(languages[language], words, file)
  const expected = `a language of the portal (${Object.keys(languages).join(', ')}) as its name`
  throw new ServiceError('configuration-invalid', `${file}: expected ${expected}, got ${language}`)
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(languages, name)
}
