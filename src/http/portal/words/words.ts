import { readFileSync } from 'node:fs'
import { withFrenchSpaces } from '../../../kernel/french-spacing.js'
import { lookupTable } from '../../../kernel/lookup-table.js'
import { type Html, html } from '../html.js'
import type english from './languages/en.json'

type Part = string | number | Html

/** A text with gaps, filled with parts: markup where a part is markup. With several forms, the last part names the form. */
export type Word = {
  (...parts: readonly (string | number)[]): string
  (...parts: readonly Part[]): Html
}

// Their keys are codes.
type Coded = 'stageNames' | 'states' | 'statuses'

type Readable<File> = {
  readonly [Name in keyof File]: Name extends Coded
    ? Readonly<Record<string, string>>
    : File[Name] extends string
      ? string
      : File[Name] extends string[]
        ? readonly string[]
        : File[Name] extends { readonly other: string }
          ? Word
          : Readable<File[Name]>
}

/** All words of the portal in a language, by the keys of the English file. */
export type Words = Readable<typeof english>

/** The languages of the portal; another one is a file and a line here. */
export const languages = {
  en: wordsOf('en'),
  fr: wordsOf('fr'),
  es: wordsOf('es'),
  pt: wordsOf('pt'),
  de: wordsOf('de'),
  ar: wordsOf('ar'),
} as const satisfies Record<string, Words>

/** The words that the console and commands have in common with the portal. */
export const { en } = languages

/** Reads `languages/NAME.json`: texts, lists of texts, groups, and texts with gaps as objects of their forms (CLDR). */
function wordsOf(name: string): Words {
  const file = readFileSync(new URL(`languages/${name}.json`, import.meta.url), 'utf8')
  return readable(
    JSON.parse(file, (_, word) => (typeof word === 'string' ? withFrenchSpaces(word, name) : word)),
  ) as Words
}

function readable(word: unknown): unknown {
  if (typeof word === 'string' || Array.isArray(word)) return word
  const entries = Object.entries(word as object)
  if (Object.hasOwn(word as object, 'other')) return wordFrom(word as Readonly<Record<string, string>>)
  return Object.fromEntries(entries.map(([name, inner]) => [name, readable(inner)]))
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
