import { withoutUnseenSigns } from './unseen-signs.js'

const numbered = /^(.+)#([1-9]\d?)$/

/** Whether a name says which of several columns with one name it means. */
export function isNumbered(name: string): boolean {
  return numbered.test(name)
}

/** The places of the columns that a name means: of `Country#2` the second one with the name Country. */
export function columnsNamed(columns: readonly string[], name: string): number[] {
  const places = (of: string) => columns.flatMap((column, at) => (sameName(column, of) ? [at] : []))
  const all = places(name)
  const [, base = '', number = '0'] = numbered.exec(name) ?? []
  return all.length > 0 ? all : places(base).slice(Number(number) - 1, Number(number))
}

function sameName(one: string, other: string): boolean {
  return cleanName(one).toLowerCase() === cleanName(other).toLowerCase()
}

/** The name of a column without what nobody sees; it may have ends of lines, as cells of spreadsheets do. */
export function cleanName(name: string): string {
  return withoutUnseenSigns(name.replace(/\s+/g, ' '))
}

/** `createdAt` as words: `created At`. */
export function partedName(name: string): string {
  return name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
}
