/** A table for names that come from outside: it has its own members and none of the prototype's (`constructor`, `__proto__`). */
export function lookupTable<T>(members: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), members)
}
