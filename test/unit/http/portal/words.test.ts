import { expect, it } from 'vitest'
import { languages, pluralOf } from '../../../../src/http/portal/view.js'
import { textsOf } from '../../../support/portal/portal-words.js'

// Words that a language writes as English does.
const alike = {
  fr: [
    ...['developers.code', 'developers.signature', 'direction', 'group.organisation', 'held.code', 'list.pages'],
    ...['money.budget', 'project.photos', 'project.transactions', 'quality.code', 'years.total'],
  ],
  es: ['direction', 'group.sector'],
  pt: ['direction'],
  ar: [],
}
const { en, ...others } = languages

it.each(Object.entries(others))('are complete in %s: the same places, and nothing in English', (code, words) => {
  const [english, translated] = [textsOf(en), textsOf(words)]
  expect([...translated.keys()].sort()).toEqual([...english.keys()].sort())
  const untranslated = [...english].filter(([place, text]) => translated.get(place) === text)
  expect(untranslated.map(([place]) => place).sort()).toEqual(alike[code as keyof typeof alike])
  for (const [place, text] of english) {
    const marks = (of: string) => (of.match(/\{\d\}/g) ?? []).sort()
    expect([place, marks(translated.get(place) ?? '')]).toEqual([place, marks(text)])
  }
})

it('have the form that a count needs, by the rules of their language', () => {
  const forms = (code: keyof typeof languages, ...counts: number[]) =>
    counts.map((count) => languages[code].projects(String(count), pluralOf({ language: code }, count)))
  expect(forms('en', 0, 1, 2)).toEqual(['0 projects', '1 project', '2 projects'])
  expect(forms('fr', 0, 1, 2)).toEqual(['0 projet', '1 projet', '2 projets'])
  expect(forms('es', 0, 1, 2)).toEqual(['0 proyectos', '1 proyecto', '2 proyectos'])
  expect(forms('pt', 0, 1, 2)).toEqual(['0 projetos', '1 projeto', '2 projetos'])
  expect(forms('ar', 0, 1, 2, 3, 11, 100)).toEqual([
    ...['لا مشاريع', 'مشروع واحد', 'مشروعان', '3 مشاريع', '11 مشروعًا', '100 مشروع'],
  ])
})
