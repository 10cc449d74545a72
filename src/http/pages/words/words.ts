import { readFileSync } from 'node:fs'
import { withFrenchSpaces } from '../../../kernel/french-spacing.js'
import { lookupTable } from '../../../kernel/lookup-table.js'
import { themeNames } from '../../../kernel/theme-sectors.js'
import { type Html, html } from '../html.js'
import type english from './languages/en.json'

/** Words by their keys, as a file has them. */
export type WordGroup = Readonly<Record<string, unknown>>

export function isGroup(value: unknown): value is WordGroup {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Part = string | number | Html

/** A text with gaps, filled with parts: markup where a part is markup. With several forms, the last part names the form. */
export type Word = {
  (...parts: readonly (string | number)[]): string
  (...parts: readonly Part[]): Html
}

// Their keys are codes.
type Coded = 'rows' | 'states' | 'statuses' | 'themeNames'

type Form = Intl.LDMLPluralRule

type NameOf<Key> = Key extends `${infer Name}_other` ? Name : Key extends `${string}_${Form}` ? never : Key

type Readable<File> = {
  readonly [Key in keyof File as NameOf<Key>]: Key extends `${string}_other`
    ? Word
    : Key extends Coded
      ? Readonly<Record<string, string>>
      : File[Key] extends string
        ? string
        : File[Key] extends string[]
          ? readonly string[]
          : Readable<File[Key]>
}

/** All words of the portal in a language, by the keys of the English file; names of themes in English are those of the program. */
export type Words = Readable<typeof english & { themeNames: object }>

const keyOfForm = /^(.+)_(zero|one|two|few|many|other)$/

/** The languages of the portal; another one is a file and a line here. */
export const languages = {
  en: { ...wordsOf('en'), themeNames },
  fr: wordsOf('fr'),
  es: wordsOf('es'),
  pt: wordsOf('pt'),
  de: wordsOf('de'),
  ar: wordsOf('ar'),
} as const satisfies Record<string, Words>

/** The words that the console and commands have in common with the portal. */
export const { en } = languages

/** Reads `languages/NAME.json`: texts, lists of texts, groups, and texts with gaps, each form (CLDR) a key: `projects_one`, `projects_other`. */
function wordsOf(name: string): Words {
  const file = readFileSync(new URL(`languages/${name}.json`, import.meta.url), 'utf8')
  return withForms(
    JSON.parse(file, (_, word) => (typeof word === 'string' ? withFrenchSpaces(word, name) : word)),
    wordFrom,
  ) as Words
}

/** Groups of words in which the keys of a text's forms are one name; `textOf` makes the value of that name. */
export function withForms(words: WordGroup, textOf: (forms: Readonly<Record<string, string>>) => unknown): WordGroup {
  const whole: Record<string, unknown> = lookupTable({})
  const forms: Record<string, Record<string, string>> = lookupTable({})
  for (const [key, word] of Object.entries(words)) {
    const [, name, form] = keyOfForm.exec(key) ?? []
    if (name !== undefined && form !== undefined) forms[name] = { ...forms[name], [form]: word as string }
    else whole[key] = isGroup(word) ? withForms(word, textOf) : word
  }
  return { ...whole, ...Object.fromEntries(Object.entries(forms).map(([name, told]) => [name, textOf(told)])) }
}

/** Fills the gaps `{1}`, `{2}` and so on of a text; of several forms the one that the last part names, else `other`. */
export function wordFrom(forms: Readonly<Record<string, string>>): Word {
  // The last part may be a text of a reader or of a record.
  const texts = lookupTable({ ...forms })
  const fill = (...parts: readonly Part[]) => {
    const pieces = (texts[String(parts.at(-1))] ?? texts.other ?? '').split(/\{(\d+)\}/)
    const filled = pieces.map((piece, at) => (at % 2 === 0 ? piece : (parts[Number(piece) - 1] ?? '')))
    if (!parts.some((part) => typeof part === 'object')) return filled.join('')
    return html`${filled.map((piece) => html`${piece}`)}`
  }
  const gaps = Object.values(forms).flatMap((text) => [...text.matchAll(/\{(\d+)\}/g)].map(([, gap]) => Number(gap)))
  return Object.defineProperty(fill, 'length', { value: Math.max(0, ...gaps) }) as Word
}
