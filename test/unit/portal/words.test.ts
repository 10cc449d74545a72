import { expect, it } from 'vitest'
import { html } from '../../../src/portal/html.js'
import { en } from '../../../src/portal/words/en.js'
import { fr } from '../../../src/portal/words/fr.js'

/** Every text of a catalogue by its place; functions are called with marks for their parts. */
function textsOf(words: object, path = ''): Map<string, string> {
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

// Words that both languages write alike.
const alike = new Set([
  ...['nav.label', 'money.budget', 'home.size', 'list.page', 'list.pages', 'project.documents', 'project.photos'],
  ...['group.organisation', 'developers.code', 'project.transactions', 'status.run'],
])

it('are complete in French: the same places, and nothing in English', () => {
  const [english, french] = [textsOf(en), textsOf(fr)]
  expect([...french.keys()].sort()).toEqual([...english.keys()].sort())
  const untranslated = [...english].filter(([place, text]) => french.get(place) === text && !alike.has(place))
  expect(untranslated.map(([place]) => place)).toEqual([])
  for (const [place, text] of english) {
    const marks = (of: string) => (of.match(/\{\d\}/g) ?? []).sort()
    expect([place, marks(french.get(place) ?? '')]).toEqual([place, marks(text)])
  }
})
