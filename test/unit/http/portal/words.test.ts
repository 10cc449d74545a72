import { expect, it } from 'vitest'
import { en } from '../../../../src/http/portal/words/en.js'
import { fr } from '../../../../src/http/portal/words/fr.js'
import { textsOf } from '../../../support/portal-words.js'

// Words that both languages write alike.
const alike = [
  ...[
    'developers.code',
    'developers.signature',
    'group.organisation',
    'held.code',
    'list.pages',
    'money.budget',
    'project.photos',
  ],
  ...['project.transactions', 'quality.code'],
]

it('are complete in French: the same places, and nothing in English', () => {
  const [english, french] = [textsOf(en), textsOf(fr)]
  expect([...french.keys()].sort()).toEqual([...english.keys()].sort())
  const untranslated = [...english].filter(([place, text]) => french.get(place) === text)
  expect(untranslated.map(([place]) => place).sort()).toEqual(alike)
  for (const [place, text] of english) {
    const marks = (of: string) => (of.match(/\{\d\}/g) ?? []).sort()
    expect([place, marks(french.get(place) ?? '')]).toEqual([place, marks(text)])
  }
})
