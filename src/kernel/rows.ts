/** The values of a field of these rows. */
export function ofEach<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((row) => row[name])
}

/** The same without those that are absent. */
export function givenOfEach<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): NonNullable<Row[Name]>[] {
  return rows.flatMap((row) => row[name] ?? [])
}

/** The values of each of these fields, as `unnest` takes them. */
export function listsOfEach<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => ofEach(rows, name))
}
