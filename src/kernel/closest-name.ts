/** The closest of `names` by spelling; undefined when none is close. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  const wanted = lettersOf(name)
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const one of names) {
    const distance = distanceOf(wanted, lettersOf(one))
    if (distance <= mostDistance && (best === undefined || distance < best.distance)) best = { name: one, distance }
  }
  return best?.name
}

/** The one of `names` from which `name` differs by at most two letters, and by less than a fifth of them: a slip of the hand. */
export function misspelt(name: string, names: readonly string[]): string | undefined {
  const edits = (one: string) => editsBetween(name, one)
  const mostEdits = (one: string) => Math.min(2, (one.length - 1) / 5)
  const [nearest] = names
    // The lengths tell most names apart, at less cost.
    .filter((one) => Math.abs(one.length - name.length) <= mostEdits(one) && edits(one) <= mostEdits(one))
    .sort((a, b) => edits(a) - edits(b))
  return nearest
}

// More than a third of the letters is another word.
const mostDistance = 1 / 3
// A shorter name stands in many words by chance.
const fewestLetters = 4

function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, 60)
}

/** How far two names are apart, from 0 to 1; a name that stands in the other is near. */
function distanceOf(one: string, other: string): number {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  const edits = editsBetween(short, long) / Math.max(long.length, 1)
  return short.length >= fewestLetters && long.includes(short) ? Math.min(edits, mostDistance) : edits
}

/** The number of letters to insert, remove or replace (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (let at = 1; at <= other.length; at++) {
      const replaced = (row[at - 1] ?? 0) + (letter === other.charAt(at - 1) ? 0 : 1)
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
