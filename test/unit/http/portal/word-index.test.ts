import { expect, it } from 'vitest'
import { WordIndex } from '../../../../src/http/portal/word-index.js'

it('finds texts by a whole word and by any part of one, each once and in order', () => {
  const words = new WordIndex()
  for (const text of ['school for girls', 'water', '', 'a preschool beside a school', 'girls', 'schools'])
    words.add(text)
  expect(words.find('school')).toEqual([0, 3, 5])
  expect(words.find('schools')).toEqual([5])
  expect(words.find('l')).toEqual([0, 3, 4, 5])
  expect(words.find('girls')).toEqual([0, 4])
  expect(words.find('ater')).toEqual([1])
  // Not from the end of one word to the beginning of the next.
  expect(words.find('forgirls')).toEqual([])
})
