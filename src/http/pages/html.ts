import { escapeAttribute } from '../../kernel/xml/writer.js'

/** Markup that is safe to include. */
export type Html = { readonly html: string }

type Part = string | number | Html | readonly Html[] | undefined

/** A template that escapes texts, in content and quoted attributes alike; only `Html` is included as it is. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let out = strings[0] ?? ''
  parts.forEach((part, index) => {
    out += toMarkup(part) + (strings[index + 1] ?? '')
  })
  return { html: out }
}

/** Markup with a sign between its parts. */
export function joinedHtml(parts: readonly Html[], between: string): Html {
  return html`${parts.map((part, at) => html`${at > 0 ? between : ''}${part}`)}`
}

function toMarkup(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escapeAttribute(String(part))
  return 'html' in part ? part.html : part.map((item) => item.html).join('')
}
