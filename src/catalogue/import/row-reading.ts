import { ServiceError } from '../../kernel/errors.js'
import type { FileReading } from '../sql/reading.js'
import { columnsNamed } from './column-names.js'
import { isBlank } from './csv-text.js'
import { withoutUnseenSigns } from './unseen-signs.js'

/** The cells of a row as a reading has them, or why it leaves the row out. */
type RowTaken =
  | { readonly cells: readonly string[]; readonly constants: Readonly<Record<string, string>> }
  | { readonly leftOut: string }

/** Reads the rows of a file with these columns one after the other: a cell that is filled down has the value above it. */
export function rowReader(columns: readonly string[], reading: FileReading): (cells: readonly string[]) => RowTaken {
  const { only = {}, without = {}, values = {}, constants = {}, fillDown = [], attachments = [] } = reading
  const placed = <T>(of: Readonly<Record<string, T>>, option: string) =>
    Object.entries(of).map(([column, value]) => [placesOf(columns, column, option), column, value] as const)
  const [kept, dropped, changed] = [placed(only, 'only'), placed(without, 'without'), placed(values, 'values')]
  const filled = fillDown.flatMap((column) => placesOf(columns, column, 'fillDown'))
  const listed = attachments.flatMap((column) => placesOf(columns, column, 'attachments'))
  if ([kept, dropped, changed, filled, listed].every(({ length }) => length === 0)) {
    return (cells) => ({ cells, constants })
  }
  const above = new Map<number, string>()
  return (given) => {
    const cells = [...given]
    const isOneOf = (places: readonly number[], words: readonly string[]) =>
      places.some((at) => words.some((word) => same(word, cells[at] ?? '')))
    // A row that is left out, such as a total, is no row to fill from.
    const leaving = dropped.find(([places, , words]) => isOneOf(places, words))
    if (leaving) return { leftOut: `${leaving[1]}=${told(cells, leaving[0])}` }
    for (const at of filled) {
      if (isBlank(cells[at] ?? '')) cells[at] = above.get(at) ?? ''
      else above.set(at, cells[at] ?? '')
    }
    const missing = kept.find(([places, , words]) => !isOneOf(places, words))
    if (missing) return { leftOut: `${missing[1]}=${told(cells, missing[0])}` }
    for (const [places, , words] of changed) {
      for (const at of places) {
        const [, value] = Object.entries(words).find(([word]) => same(word, cells[at] ?? '')) ?? []
        if (value !== undefined) cells[at] = value
      }
    }
    for (const at of listed) cells[at] = addressesIn(cells[at] ?? '')
    return { cells, constants }
  }
}

/** The addresses of `name.jpg (https://...),other.jpg (https://...)`, as lists of CSV have them. */
function addressesIn(cell: string): string {
  const found = [...cell.matchAll(/\((https?:\/\/[^\s()]+)\)/g)].map(([, address = '']) => address)
  return found.length > 0 ? found.join('|') : cell
}

function placesOf(columns: readonly string[], column: string, option: string): number[] {
  const places = columnsNamed(columns, column)
  if (places.length > 0) return places
  const present = columns.slice(0, 20).join(', ')
  throw new ServiceError('input-unusable', `a first line without "${column}", which ${option} names; it has ${present}`)
}

function same(one: string, other: string): boolean {
  return withoutUnseenSigns(one.trim()).toLowerCase() === withoutUnseenSigns(other.trim()).toLowerCase()
}

function told(cells: readonly string[], places: readonly number[]): string {
  return (cells[places[0] ?? 0] ?? '').trim().slice(0, 60)
}

// What such a column says is whether, or as what, a row counts.
const tellingName =
  /\b(?:status|state|type|kind|mode|livemode|test|refunded|captured|disputed|paid|statut|\u00e9tat|etat|estado|tipo|situa\u00e7\u00e3o|situacao|zustand|stand|art|typ)\b/iu

/** Columns that `map` leaves out although their names say that rows differ in what they count for. */
export function askedColumns(
  columns: readonly string[],
  { map = {}, ignore = [], only = {}, without = {} }: FileReading,
): { readonly count: number; look(cells: readonly string[]): void } {
  const settled = [...ignore, ...Object.keys(only), ...Object.keys(without)].flatMap((name) =>
    columnsNamed(columns, name),
  )
  const left = Object.entries(map).flatMap(([name, field]) => (field === '' ? columnsNamed(columns, name) : []))
  const asked = new Set(left.filter((at) => !settled.includes(at) && tellingName.test(columns[at] ?? '')))
  const first = new Map<number, string>()
  return {
    count: asked.size,
    look: (cells) => {
      for (const at of asked) {
        const value = (cells[at] ?? '').trim()
        const known = first.get(at)
        if (value === '') continue
        if (known === undefined) first.set(at, value)
        else if (!same(known, value)) throw askedOf(columns[at] ?? '', known, value)
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
