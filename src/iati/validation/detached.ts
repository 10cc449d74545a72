/**
 * The same text in memory of its own. What a parser cuts out of a file may be a view that keeps the whole piece of the
 * file alive; whatever is kept for longer than its record must be detached.
 */
export function detached(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
