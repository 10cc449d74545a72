import { readFileSync } from 'node:fs'
import { codeList, isActiveCode } from '../../../iati/standard/index.js'
import type words from './header-words.json'

const languages = 'en de fr es pt it nl ar pl tr sv da nb fi cs ro hu el ru uk sw id vi fa ja zh ko'.split(' ')

/**
 * `credits` and `debits` are a bank's columns of money that came and went; `tells`, `happened` and `forPublic` are words in
 * names of columns that say whether, or as what, a row counts.
 */
type List = Exclude<keyof typeof words, 'fields' | 'kinds' | 'values' | 'themes'>

/** What people call columns and values in these languages; all folded. */
export type HeaderWords = Readonly<Record<List, readonly string[]>> & {
  /** Names of columns by the field that they are. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>
  /** All names of columns. */
  readonly all: ReadonlySet<string>
  /** Names of files by their kind. */
  readonly kinds: ReadonlyMap<string, readonly string[]>
  /** Values by the word of the field that they stand for. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** Names of themes by the id of the theme that they stand for. */
  readonly themes: ReadonlyMap<string, readonly string[]>
}

let read: HeaderWords | undefined

export function headerWords(): HeaderWords {
  read ??= readWords()
  return read
}

function readWords(): HeaderWords {
  const file = readFileSync(new URL('header-words.json', import.meta.url), 'utf8')
  const { fields, kinds, values, themes, ...lists } = JSON.parse(file) as typeof words
  const foldedLists = <Name extends string>(of: Readonly<Record<Name, readonly string[]>>) => {
    const result: Record<Name, readonly string[]> = { ...of }
    for (const name of Object.keys(of) as Name[]) result[name] = of[name].map(foldedName)
    return result
  }
  const named = new Map(
    Object.entries(fields).map(([field, list]) => {
      const own = field.replace(/[A-Z]/g, (letter) => ` ${letter}`)
      return [field, new Set([...list, own, field].map(foldedName))] as const
    }),
  )
  return {
    ...foldedLists(lists),
    kinds: new Map(Object.entries(foldedLists(kinds))),
    values: new Map(Object.entries(foldedLists(values))),
    themes: new Map(Object.entries(foldedLists(themes))),
    fields: named,
    all: new Set([...named.values()].flatMap((names) => [...names])),
  }
}

/** A name as it is compared: without accents, letter case and signs. */
export function foldedName(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The codes of countries that are in force. */
export function countryCodes(): string[] {
  return [...codeList('Country').codes.keys()].filter((code) => isActiveCode('Country', code))
}

let countries: ReadonlyMap<string, string> | undefined

/** The code of a country by its name in one of these languages. */
export function countryNamed(text: string): string | undefined {
  countries ??= namedCountries()
  const name = foldedName(text)
  // Two countries have this name.
  return /^[ck]ongo$/.test(name) ? undefined : countries.get(name)
}

function namedCountries(): ReadonlyMap<string, string> {
  const styles = ['long', 'short'] as const
  // One for each language: making one takes longer than asking it for every country.
  const names = languages.flatMap((language) =>
    styles.map((style) => new Intl.DisplayNames(language, { type: 'region', style })),
  )
  return new Map(
    countryCodes().flatMap((code) => names.map((one) => [foldedName(one.of(code) ?? code), code] as const)),
  )
}
