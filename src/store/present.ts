type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** The row without its nulls: in the domain, absent is `undefined`, never null. */
export function present<T extends object>(row: T): Present<T> {
  const out: Present<T> = {}
  for (const key in row) {
    const value = row[key]
    if (value !== null) out[key] = value as NonNullable<typeof value>
  }
  return out
}
