import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { pluralOf } from '../../../../src/http/pages/page.js'
import { isGroup, languages, type WordGroup, withForms } from '../../../../src/http/pages/words/words.js'
import { textsOf } from '../../../support/portal/portal-words.js'

// Words that a language writes as English does.
const alike = {
  fr: [
    ...['developers.signature', 'group.organisation', 'list.pages'],
    ...['money.budget', 'project.photos', 'project.transactions', 'quality.code', 'themeNames.covid-19'],
    ...['themeNames.finance', 'themeNames.sport', 'years.total'],
  ],
  es: ['group.sector', 'themeNames.covid-19'],
  pt: ['themeNames.covid-19'],
  de: [
    ...['groups.name', 'money.budget', 'nav.status', 'project.status', 'quality.code', 'quality.element'],
    ...['themeNames.covid-19', 'themeNames.sport'],
  ],
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

it.each(Object.keys(languages))(
  'have in %s the forms of a count that its rules know, each with the same gaps',
  async (code) => {
    const known = new Set<string>(new Intl.PluralRules(code).resolvedOptions().pluralCategories)
    const fileOf = async (name: string) =>
      withForms(JSON.parse(await readFile(`src/http/pages/words/languages/${name}.json`, 'utf8')), (forms) => [forms])
    const english = { ...(await fileOf('en')), themeNames: en.themeNames }
    const told = code === 'en' ? english : await fileOf(code)
    const gaps = (text: string) => new Set(text.match(/\{\d\}/g))
    const look = (word: unknown, of: unknown, place: string): void => {
      expect([place, typeof word, Array.isArray(word)]).toEqual([place, typeof of, Array.isArray(of)])
      if (isGroup(word)) {
        expect([place, Object.keys(word).sort()]).toEqual([place, Object.keys(of as WordGroup).sort()])
        for (const [name, inner] of Object.entries(word)) look(inner, (of as WordGroup)[name], `${place}.${name}`)
      } else if (Array.isArray(word) && isGroup(word[0])) {
        const [{ other }, [{ other: inEnglish }]] = [word[0], of] as [Record<string, string>, [{ other: string }]]
        expect([place, gaps(other ?? '')]).toEqual([place, gaps(inEnglish)])
        for (const [form, text] of Object.entries(word[0] as Record<string, string>)) {
          expect([place, form, known.has(form)]).toEqual([place, form, true])
          // A form for one or two things may leave its number out, and adds no gap.
          expect([place, form, [...gaps(text)].filter((gap) => !gaps(inEnglish).has(gap))]).toEqual([place, form, []])
        }
      }
    }
    look(told, english, code)
  },
)

it('have the form that a count needs, by the rules of their language', () => {
  const forms = (code: keyof typeof languages, ...counts: number[]) =>
    counts.map((count) => languages[code].projects(String(count), pluralOf({ language: code }, count)))
  expect(forms('en', 0, 1, 2)).toEqual(['0 projects', '1 project', '2 projects'])
  expect(forms('fr', 0, 1, 2)).toEqual(['0 projet', '1 projet', '2 projets'])
  expect(forms('es', 0, 1, 2)).toEqual(['0 proyectos', '1 proyecto', '2 proyectos'])
  expect(forms('pt', 0, 1, 2)).toEqual(['0 projetos', '1 projeto', '2 projetos'])
  expect(forms('de', 0, 1, 2)).toEqual(['0 Projekte', '1 Projekt', '2 Projekte'])
  expect(forms('ar', 0, 1, 2, 3, 11, 100)).toEqual([
    ...['لا مشاريع', 'مشروع واحد', 'مشروعان', '3 مشاريع', '11 مشروعًا', '100 مشروع'],
  ])
})
