import { escapeAttribute } from '../xml/writer.js'

/** Markup that is known to be safe. */
export type Html = { readonly html: string }

type Part = string | number | Html | readonly Html[] | undefined

/** A template whose texts are escaped, in content and in quoted attributes alike; only `Html` is taken as it is. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let out = strings[0] ?? ''
  parts.forEach((part, index) => {
    out += toMarkup(part) + (strings[index + 1] ?? '')
  })
  return { html: out }
}

function toMarkup(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escapeAttribute(String(part))
  return 'html' in part ? part.html : part.map((item) => item.html).join('')
}
