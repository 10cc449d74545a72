/** Looks through the bytes of a file for tags of records where XML has none: in comments and CDATA sections. */
export type TagSearch = {
  /** The next bytes of the file. */
  read(bytes: Buffer): void
}

const starts = [
  { start: Buffer.from('<![CDATA['), end: Buffer.from(']]>'), what: 'a CDATA section' },
  { start: Buffer.from('<!--'), end: Buffer.from('-->'), what: 'a comment' },
] as const
// Enough to find a start, an end or a tag across two chunks.
const overlap = 32
const newline = 10
const exclamationMark = 33
const tag = /<\/?iati-(?:activity|organisation)\b/

/** The first start from `at` on; searching for one rare byte is several times as fast as for two words. */
function nextStart(text: Buffer, at: number): { kind: (typeof starts)[number]; index: number } | undefined {
  for (let mark = text.indexOf(exclamationMark, at); mark >= 0; mark = text.indexOf(exclamationMark, mark + 1)) {
    const index = mark - 1
    const kind = index >= at && starts.find(({ start }) => text.subarray(index, index + start.length).equals(start))
    if (kind) return { kind, index }
  }
  return undefined
}

/**
 * Calls `onFound` once for every comment or CDATA section that holds the tag of a record, with its line. Consumers that
 * cut records out by searching for the tags (the official validator does) then read something else than what the file
 * says. Needs memory for one chunk only.
 */
export function searchHiddenTags(onFound: (what: string, line: number) => void): TagSearch {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  let inside: (typeof starts)[number] | undefined
  let insideLine = 1
  let found = false

  return {
    read(bytes) {
      const text = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      let at = 0
      const moveTo = (next: number): void => {
        for (
          let index = text.indexOf(newline, at);
          index >= 0 && index < next;
          index = text.indexOf(newline, index + 1)
        )
          line += 1
        at = next
      }
      while (true) {
        if (!inside) {
          const next = nextStart(text, at)
          if (!next) break
          moveTo(next.index + next.kind.start.length)
          inside = next.kind
          insideLine = line
          found = false
        }
        const end = text.indexOf(inside.end, at)
        if (!found && tag.test(text.toString('latin1', at, end < 0 ? text.length : end))) {
          found = true
          onFound(inside.what, insideLine)
        }
        if (end < 0) break
        moveTo(end + inside.end.length)
        inside = undefined
      }
      moveTo(Math.max(at, text.length - overlap))
      // A copy: the chunk itself may be large.
      rest = Buffer.from(text.subarray(at))
    },
  }
}
