import { missingFields } from '../../catalogue/import/fields.js'
import type { Kind } from '../../catalogue/import/kind.js'
import { findKind } from '../../catalogue/import/kinds.js'
import { readingOfRecipe, readRecipe } from '../../catalogue/import/reading.js'
import { hashOfReading } from '../../catalogue/import/receipt.js'
import type { SeenColumn } from '../../catalogue/import/recipes/look-at-file.js'
import { choicesOf } from '../../catalogue/import/recipes/values-of-columns.js'
import { tellingOf } from '../../catalogue/import/row-reading.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Upload } from './uploads.js'

/** What a person chooses of a column: the field that it is, what its values mean, and which of its rows count. */
export type ColumnChoice = {
  readonly column: SeenColumn
  /** Empty: it is left out. */
  readonly field: string
  /** Of a field with a few values: what each value that is none of them means; empty: its rows are refused. */
  readonly values?: readonly { readonly value: string; readonly means: string }[]
  readonly choices?: readonly string[] | undefined
  /** Of a column that is left out and may tell which rows count: each value, and whether its rows do. */
  readonly rows?: readonly { readonly value: string; readonly counts: boolean }[]
  /** Of a column that names other records: whether an empty cell has the value above it. */
  readonly isFilledDown?: boolean
}

// More than so many choices of values are for no person.
const mostValues = 100

/** The columns of a table with what a recipe says of each. */
export function columnChoices(columns: readonly SeenColumn[], recipe: Recipe): ColumnChoice[] {
  const fields = fieldsOf(recipe)
  let shown = 0
  return columns.map((column) => {
    const field = recipe.map?.[column.name] ?? ''
    const type = fields[field]?.type
    const choices = type && choicesOf(type)
    const odd = choices && column.values?.filter((value) => type.parse(value) === undefined)
    shown += odd?.length ?? 0
    const isShown = odd !== undefined && odd.length > 0 && shown <= mostValues
    return {
      ...{ column, field },
      ...(isShown && {
        choices,
        values: odd.map((value) => ({ value, means: meaningOf(recipe, column.name, value) })),
      }),
      ...(field === '' && tellsRows(column) && { rows: rowsOf(column, recipe) }),
      ...(type?.refersTo && { isFilledDown: recipe.fillDown?.includes(column.name) ?? false }),
    }
  })
}

function fieldsOf({ kind }: Recipe): Kind['fields'] {
  return findKind(kind ?? '')?.fields ?? {}
}

function meaningOf({ values }: Recipe, column: string, value: string): string {
  const given = Object.entries(values?.[column] ?? {}).find(([one]) => one.toLowerCase() === value.toLowerCase())
  return given?.[1] ?? ''
}

function tellsRows({ name, values = [] }: SeenColumn): boolean {
  return new Set(values.flatMap((value) => tellingOf(name)?.(value) ?? [])).size > 1
}

function rowsOf({ name, values = [] }: SeenColumn, { only, ignore }: Recipe): NonNullable<ColumnChoice['rows']> {
  const counting = only?.[name]?.map((value) => value.toLowerCase())
  return values.map((value) => ({
    value,
    counts: ignore?.includes(name) || (counting?.includes(value.toLowerCase()) ?? false),
  }))
}

/** Fields that a recipe gives all records, and those that they lack. */
export function constantsOf(
  recipe: Recipe,
): { readonly field: string; readonly value: string; readonly isNeeded: boolean }[] {
  const { map = {}, constants = {} } = recipe
  const given = new Set(Object.values(map))
  const needed = missingFields(fieldsOf(recipe), (field) => given.has(field)).map((one) => one.replace(/ or .*/, ''))
  const names = new Set([...Object.keys(constants), ...needed])
  return [...names].map((field) => ({ field, value: constants[field] ?? '', isNeeded: needed.includes(field) }))
}

/** Names of the fields of the form. */
export const formName = {
  column: (at: number) => `column-${at}`,
  value: (at: number, value: number) => `value-${at}-${value}`,
  rows: (at: number) => `rows-${at}`,
  fill: (at: number) => `fill-${at}`,
  constant: (field: string) => `constant-${field}`,
}

const notation = ['decimal', 'date', 'encoding', 'missing', 'zone'] as const

/** The recipe that a form says; what it does not show stays. Throws `request-invalid` and `input-unusable`. */
export function recipeOfForm(form: URLSearchParams, columns: readonly SeenColumn[], before: Recipe): Recipe {
  const fields = fieldsOf(before)
  const shown = columnChoices(columns, before)
  const map: Record<string, string> = { ...before.map }
  const values: Record<string, Readonly<Record<string, string>>> = { ...before.values }
  const only: Record<string, readonly string[]> = { ...before.only }
  const lists = { ignore: new Set(before.ignore), fillDown: new Set(before.fillDown) }
  const [attachments, plain] = [new Set(before.attachments), new Set(before.plain)]
  for (const [at, { column, field: earlier, ...choice }] of shown.entries()) {
    const { name } = column
    const field = form.get(formName.column(at)) ?? earlier
    if (field !== '' && !isField(fields, field)) throw wrong(name, `a field of ${before.kind}`, field)
    map[name] = field
    if (field !== earlier) {
      for (const of of [values, only]) delete of[name]
      for (const of of [lists.ignore, lists.fillDown, attachments, plain]) of.delete(name)
      continue
    }
    if (choice.values) {
      const meant = choice.values.map(
        ({ value, means }, index) => [value, form.get(formName.value(at, index)) ?? means] as const,
      )
      const foreign = meant.find(([, means]) => means !== '' && !choice.choices?.includes(means))
      if (foreign) throw wrong(name, `one of ${choice.choices?.slice(0, 10).join(', ')}`, foreign[1])
      const known = meant.filter(([, means]) => means !== '')
      if (known.length > 0) values[name] = Object.fromEntries(known)
      else delete values[name]
    }
    if (choice.rows && form.has(formName.rows(at))) {
      const counting = new Set(form.getAll(formName.rows(at)))
      const chosen = choice.rows.flatMap(({ value }, index) => (counting.has(String(index)) ? [value] : []))
      lists.ignore.delete(name)
      delete only[name]
      if (chosen.length === choice.rows.length) lists.ignore.add(name)
      else if (chosen.length > 0) only[name] = chosen
    }
    if (choice.isFilledDown !== undefined && form.has(formName.fill(at))) {
      lists.fillDown.delete(name)
      if (form.getAll(formName.fill(at)).includes('yes')) lists.fillDown.add(name)
    }
  }
  const constants = Object.fromEntries(
    constantsOf({ ...before, map }).flatMap(({ field, value }) => {
      const given = (form.get(formName.constant(field)) ?? value).trim()
      return given === '' ? [] : [[field, given]]
    }),
  )
  const said = Object.fromEntries(
    notation.flatMap((member) => {
      const given = (form.get(member) ?? before[member] ?? '').trim()
      return given === '' ? [] : [[member, given]]
    }),
  )
  const { decimal: _1, date: _2, encoding: _3, missing: _4, zone: _5, ...others } = before
  return readRecipe({
    ...withoutEmpty({
      ...others,
      ...{ map, values, only, constants, ignore: [...lists.ignore], fillDown: [...lists.fillDown] },
      ...{ attachments: [...attachments], plain: [...plain] },
    }),
    ...said,
  })
}

/** Whether a name is that of a field, perhaps in a language, such as `title@fr`. */
function isField(fields: Kind['fields'], name: string): boolean {
  return Object.hasOwn(fields, name.replace(/@.*/, ''))
}

/** Without the lists and objects that say nothing. */
function withoutEmpty(recipe: Recipe): Recipe {
  return Object.fromEntries(
    Object.entries(recipe).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0),
  )
}

/** Whether a file has records that an import by its recipe would take, as its page has shown. */
export function isImportable({ tried, recipe = {} }: Upload): boolean {
  if (tried === undefined || 'broken' in tried.result || !isSameRecipe(tried.recipe, recipe)) return false
  const { created, changed, unchanged } = tried.result.summary
  return created + changed + unchanged > 0
}

/** Whether two recipes read files in the same way. */
export function isSameRecipe(one: Recipe, other: Recipe): boolean {
  return one.kind === other.kind && hashOfReading(readingOfRecipe(one)) === hashOfReading(readingOfRecipe(other))
}

function wrong(column: string, expected: string, got: string): ServiceError {
  return new ServiceError('request-invalid', `${column}: expected ${expected}, got ${got.slice(0, 100)}`)
}
