import { kinds } from './kinds.js'

/** The imported fields, `kind.field`, that an element of an activity is written from; [] when it comes from none. */
export function fieldsOfElement(element: string): string[] {
  const named = new RegExp(`(?<![\\w/-])${element}(?![\\w-])`)
  return kinds.flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([field, { iati }]) =>
      iati !== undefined && named.test(iati) ? [`${name}.${field}`] : [],
    ),
  )
}
