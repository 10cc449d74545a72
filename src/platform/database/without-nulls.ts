/**
 * Makes the nulls of a row, or of JSON at every depth, undefined; in place. So all objects of a statement keep one shape,
 * which is faster to read than objects that lack different fields.
 */
export function withoutNulls<T extends object>(row: T): T {
  const values = row as Record<string, unknown>
  for (const key in values) {
    const value = values[key]
    if (value === null) values[key] = undefined
    else if (typeof value === 'object' && !ArrayBuffer.isView(value)) withoutNulls(value)
  }
  return row
}
