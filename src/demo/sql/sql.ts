// Parts of the seeding SQL, made from constants of this program only, never from values from outside.

/** A whole number from 0 to `below` - 1 that depends only on the key and the salt. */
export function pick(key: string, salt: number, below: number | string): string {
  return `((hashint8extended(${key}, ${salt}) & 2147483647) % ${below})::integer`
}

/** A text literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A text array literal. */
export function textArrayLiteral(texts: readonly string[]): string {
  return `array[${texts.map(literal).join(', ')}]::text[]`
}

/** One element of a constant list, chosen by a zero-based SQL expression that may exceed the list. */
export function oneOf(texts: readonly string[], index: string): string {
  return `(${textArrayLiteral(texts)})[(${index}) % ${texts.length} + 1]`
}
