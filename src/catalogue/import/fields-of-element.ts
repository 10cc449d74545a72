import { kinds } from './kinds.js'

/** The imported fields, `kind.field`, that an element of an activity is written from; [] when it comes from none. */
export function fieldsOfElement(element: string): string[] {
  const named = new RegExp(`(?<![\\w/-])${element}(?![\\w-])`)
  return fieldsWhere(({ iati }) => iati !== undefined && named.test(iati))
}

/** The imported field, `kind.field`, of projects of this name; [] when there is none. */
export function projectField(name: string): string[] {
  return fieldsWhere((_, kind, field) => kind === 'projects' && field === name)
}

function fieldsWhere(isWanted: (field: { readonly iati?: string }, kind: string, name: string) => boolean): string[] {
  return kinds.flatMap(({ name: kind, fields }) =>
    Object.entries(fields).flatMap(([name, field]) => (isWanted(field, kind, name) ? [`${kind}.${name}`] : [])),
  )
}
