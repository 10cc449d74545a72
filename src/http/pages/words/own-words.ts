import { ServiceError } from '../../../kernel/errors.js'
import { isGroup, type Word, type WordGroup, type Words, withForms, wordFrom } from './words.js'

// What pages are built by, and not written with.
const kept = new Set(['code', 'language'])
const longest = 2_000

/**
 * Words with an operator's own in place of some. A text that takes parts has `{1}`, `{2}` and so on where they go; one that
 * depends on a count has a key for each form (`projects_one`, `projects_other`; CLDR), or is an object of forms. Throws `configuration-invalid`, naming file and key.
 */
export function withOwnWords(words: Words, own: unknown, file: string): Words {
  return replaced(words, isGroup(own) ? withForms(own, (forms) => forms) : own, { file, key: '' }) as Words
}

type Place = { readonly file: string; readonly key: string }

function replaced(words: WordGroup, own: unknown, { file, key }: Place): WordGroup {
  if (!isGroup(own)) throw unusable({ file, key }, 'an object of words', own)
  const changed = Object.entries(own).map(([name, value]): [string, unknown] => {
    const place = { file, key: key === '' ? name : `${key}.${name}` }
    if (!Object.hasOwn(words, name) || kept.has(place.key)) {
      throw unusable(place, 'a key of the built-in words that may be changed', value)
    }
    return [name, replacement(words[name], value, place)]
  })
  return { ...words, ...Object.fromEntries(changed) }
}

function replacement(word: unknown, own: unknown, place: Place): unknown {
  if (typeof word === 'string') return textOf(own, place)
  if (typeof word === 'function') return template(word as Word, own, place)
  if (Array.isArray(word)) {
    if (!Array.isArray(own)) throw unusable(place, 'a list of texts', own)
    return own.map((one) => textOf(one, place))
  }
  return replaced(word as WordGroup, own, place)
}

/** The operator's text, with the gaps of the built-in one. */
function template(word: Word, own: unknown, place: Place): Word {
  const forms = isGroup(own) ? own : { other: own }
  const texts = Object.fromEntries(
    Object.entries({ other: undefined, ...forms }).map(([form, text]) => [form, textOf(text, place)]),
  )
  for (const [, number] of Object.values(texts).flatMap((text) => [...text.matchAll(/\{(\d+)\}/g)])) {
    if (Number(number) >= 1 && Number(number) <= word.length) continue
    throw unusable(place, `no part but {1} to {${word.length}}`, `{${number}}`)
  }
  return wordFrom(texts)
}

function textOf(value: unknown, place: Place): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= longest) return value
  throw unusable(place, `a text of 1 to ${longest} characters`, value)
}

function unusable({ file, key }: Place, expected: string, got: unknown): ServiceError {
  const what = key === '' ? file : `${file}, ${key}`
  return new ServiceError(
    'configuration-invalid',
    `${what}: expected ${expected}, got ${JSON.stringify(got)?.slice(0, 80)}`,
  )
}
