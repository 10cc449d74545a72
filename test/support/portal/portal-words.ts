import { html } from '../../../src/http/pages/html.js'

/** Every text of a catalogue by its place; functions are called with marks for their parts. */
export function textsOf(words: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(words)) {
    const place = `${path}${name}`
    if (typeof value === 'string') texts.set(place, value)
    else if (typeof value === 'function') {
      const marks = Array.from({ length: value.length }, (_, at) => html`{${at}}`)
      const text = value(...marks.map((mark) => Object.assign(mark, { toString: () => mark.html })))
      texts.set(place, typeof text === 'string' ? text : text.html)
    } else for (const [inner, text] of textsOf(value, `${place}.`)) texts.set(inner, text)
  }
  return texts
}
