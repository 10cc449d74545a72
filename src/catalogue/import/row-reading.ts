import { ServiceError } from '../../kernel/errors.js'
import { escapeText } from '../../kernel/xml/writer.js'
import type { FileReading } from '../sql/reading.js'
import { cleanName, columnsNamed, partedName } from './column-names.js'
import { isBlank } from './csv-text.js'
import { headerWords } from './recipes/header-words.js'
import { withoutUnseenSigns } from './unseen-signs.js'

/** The cells of a row as a reading has them, or why it leaves the row out. */
type RowTaken = { readonly cells: readonly string[] } | { readonly leftOut: string }

/** Reads the rows of a file with these columns one after the other: a cell that is filled down has the value above it. */
export function rowReader(columns: readonly string[], reading: FileReading): (cells: readonly string[]) => RowTaken {
  const { only = {}, without = {}, values = {}, fillDown = [], attachments = [], plain = [] } = reading
  const placed = <T, Folded>(of: Readonly<Record<string, T>>, option: string, fold: (value: T) => Folded) =>
    Object.entries(of).map(
      ([column, value]) =>
        [placesOf(columns, column, option, option === 'only' ? {} : reading), column, fold(value)] as const,
    )
  const wordsOf = (words: readonly string[]) => ({
    whole: new Set(words.map(folded)),
    // `Summe*` stands for all that begins so.
    starts: words.flatMap((word) => (word.endsWith('*') && word.length > 1 ? [folded(word.slice(0, -1))] : [])),
  })
  const [kept, dropped] = [placed(only, 'only', wordsOf), placed(without, 'without', wordsOf)]
  const changed = placed(
    values,
    'values',
    (words): ReadonlyMap<string, string> =>
      new Map(Object.entries(words).map(([word, value]) => [folded(word), value])),
  )
  const [filled, listed, texts] = [fillDown, attachments, plain].map((names) =>
    names.flatMap((column) => placesOf(columns, column, 'the recipe', reading)),
  ) as [number[], number[], number[]]
  if ([kept, dropped, changed, filled, listed, texts].every(({ length }) => length === 0)) {
    return (cells) => ({ cells })
  }
  const above = new Map<number, string>()
  return (given) => {
    const cells = [...given]
    const isOneOf = (places: readonly number[], { whole, starts }: ReturnType<typeof wordsOf>) =>
      places.some((at) => {
        const word = folded(cells[at] ?? '')
        return whole.has(word) || starts.some((start) => word.startsWith(start))
      })
    // A row that is left out, such as a total, is no row to fill from.
    const leaving = dropped.find(([places, , words]) => isOneOf(places, words))
    if (leaving) return { leftOut: `${leaving[1]}=${firstOf(cells, leaving[0])}` }
    for (const at of filled) {
      if (isBlank(cells[at] ?? '')) cells[at] = above.get(at) ?? ''
      else above.set(at, cells[at] ?? '')
    }
    const missing = kept.find(([places, , words]) => !isOneOf(places, words))
    if (missing) return { leftOut: `${missing[1]}=${firstOf(cells, missing[0])}` }
    for (const [places, , words] of changed) {
      for (const at of places) cells[at] = words.get(folded(cells[at] ?? '')) ?? cells[at] ?? ''
    }
    for (const at of listed) cells[at] = addressesIn(cells[at] ?? '')
    for (const at of texts) cells[at] = htmlOf(cells[at] ?? '')
    return { cells }
  }
}

/** Why a row is a part of the header: it is there once more, as in files that were put together, or has the tags of HXL. */
export function whyHeader(cells: readonly string[], columns: readonly string[]): string | undefined {
  if (columns.length < 2) return undefined
  if (columns.every((column, at) => cleanName(cells[at] ?? '') === column)) return 'the header once more'
  return cells.every((cell) => isBlank(cell) || /^\s*#[a-z][\w+ ]*$/.test(cell)) ? 'the tags of HXL' : undefined
}

/** The addresses of `name.jpg (https://...),other.jpg (https://...)`, as lists of CSV have them. */
function addressesIn(cell: string): string {
  const found = [...cell.matchAll(/\((https?:\/\/[^\s()]+)\)/g)].map(([, address = '']) => address)
  return found.length > 0 ? found.join('|') : cell
}

/** Plain text as HTML: blank lines part paragraphs. */
function htmlOf(cell: string): string {
  const paragraphs = escapeText(cell.trim()).split(/(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))+/)
  return paragraphs.flatMap((text) => (isBlank(text) ? [] : [`<p>${text.replace(/\r\n?|\n/g, '<br>')}</p>`])).join('')
}

/** The places of a column. What a recipe says of columns that may be missing counts where they are there. */
function placesOf(columns: readonly string[], column: string, option: string, { others }: FileReading): number[] {
  const places = columnsNamed(columns, column)
  if (places.length > 0 || others) return places
  const present = columns.slice(0, 20).join(', ')
  throw new ServiceError('input-unusable', `a first line without "${column}", which ${option} names; it has ${present}`)
}

/** A word as it is compared: letter case and signs that nobody sees do not matter. */
function folded(text: string): string {
  return withoutUnseenSigns(text.trim()).toLowerCase()
}

function firstOf(cells: readonly string[], places: readonly number[]): string {
  return (cells[places[0] ?? 0] ?? '').trim().slice(0, 60)
}

/** Patterns of names of columns that say whether, or as what, a row counts; what a name has beside the words is without accents. */
type Telling = { readonly tells: RegExp; readonly happened: RegExp; readonly forPublic: RegExp }

let telling: Telling | undefined

function tellingNames(): Telling {
  if (telling) return telling
  const [tells, happened, forPublic] = (['tells', 'happened', 'forPublic'] as const).map((list) =>
    headerWords()[list].join('|'),
  )
  telling = {
    // `Zahlungsstatus` is one word.
    tells: new RegExp(`(?:(?<!\\p{L})|(?=status))(?:${tells})(?!\\p{L})`, 'u'),
    // Of what happened to a row, or did not where its cell is empty; not who did it.
    happened: new RegExp(`(?<!\\p{L})(?:${happened})(?!\\p{L}| (?:by|par|por|da|von|door) )`, 'u'),
    forPublic: new RegExp(
      `^(?:(?:is|show|ist|est|es) )?(?:${forPublic})(?: (?:on|in|at|en|am|le|el|em|auf) .*| online)? ?[?؟]? ?$`,
      'u',
    ),
  }
  return telling
}

const dayLike = /^(?:\p{L}+\.?,? *)?\d{1,4}[-./ ](?:\d{1,2}|\p{L}{3,}\.?)[-./, ]+\d{1,4}/u

/**
 * What the cells of a column tell of their rows, where its name says that they do: rows whose cells tell the same count alike.
 * Of what happened, one day tells the same as another. Undefined: this cell tells nothing.
 */
export function tellingOf(name: string): ((cell: string) => string | undefined) | undefined {
  const bare = `${partedName(name).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[_/]/g, ' ')} `
  const { tells, happened, forPublic } = tellingNames()
  if (happened.test(bare) || forPublic.test(bare)) return (cell) => (dayLike.test(cell.trim()) ? 'a day' : folded(cell))
  return tells.test(bare) ? (cell) => folded(cell) || undefined : undefined
}

/** Columns that `map` leaves out although their names say that rows differ in what they count for. */
export function askedColumns(
  columns: readonly string[],
  reading: FileReading,
): { readonly count: number; look(cells: readonly string[]): void } {
  const { map = {}, ignore = [], only = {}, without = {} } = reading
  const settled = [...ignore, ...Object.keys(only), ...Object.keys(without)].flatMap((name) =>
    columnsNamed(columns, name),
  )
  const left = Object.entries(map).flatMap(([name, field]) => (field === '' ? columnsNamed(columns, name) : []))
  const asked = new Map(
    left.flatMap((at) => {
      const tells = settled.includes(at) ? undefined : tellingOf(columns[at] ?? '')
      return tells ? [[at, tells] as const] : []
    }),
  )
  const first = new Map<number, string>()
  const read = asked.size > 0 ? rowReader(columns, reading) : undefined
  return {
    count: asked.size,
    look: (cells) => {
      if (!read || 'leftOut' in read(cells)) return
      for (const [at, tells] of asked) {
        const value = (cells[at] ?? '').trim()
        const told = tells(value)
        const known = first.get(at)
        if (told === undefined) continue
        if (known === undefined) first.set(at, value)
        else if (tells(known) !== told) throw askedOf(columns[at] ?? '', known, value)
      }
    },
  }
}

function askedOf(column: string, one: string, other: string): ServiceError {
  const [name, first, second] = [column, one, other].map((text) => JSON.stringify(text.slice(0, 60)))
  return new ServiceError(
    'input-unusable',
    `a column ${name} that is left out, with ${first} and ${second}: are all of these rows meant? Say so with ` +
      `--ignore-column ${/^[\w-]+$/.test(column) ? column : `'${column.replaceAll("'", "'\\''")}'`}, or leave rows out with a recipe`,
  )
}
