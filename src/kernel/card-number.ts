/**
 * Whether a text holds what may be the number of a payment card: 13 to 19 digits of a known issuer's length and
 * beginning that pass the Luhn check. Digits of any script count, characters without a width do not, and up to five other
 * signs may stand between digits; letters only between groups of digits as cards have them, and around such groups where the
 * same text parts all of them. Digits inside of a longer word, a UUID or a hash are not a card number.
 */
export function holdsCardNumber(text: string): boolean {
  if (text.length < shortest) return false
  const plain = withAsciiDigits(text)
  if (holdsParted(plain.replace(identifiers, (id) => 'x'.repeat(id.length)))) return true
  for (const [run] of plain.matchAll(runsOfNumbers)) {
    // Hyphens join what other signs may part: a UUID made of digits is one word.
    const words = run.match(/[\p{L}\p{N}-]+/gu) ?? []
    const numbers = words.map((word) => word.replaceAll('-', '')).filter((digits) => digits !== '')
    for (let first = 0; first < numbers.length; first++) {
      let digits = ''
      for (let last = first; last < numbers.length && digits.length < longest; last++) {
        digits += numbers[last]
        if (issued.test(digits) && passesLuhn(digits) && !(first === 0 && isPhoneNumber(run, digits))) return true
      }
    }
  }
  return false
}

const shortest = 13
const longest = 19

// UUIDs and hashes in hexadecimal digits: by chance a few of a million have groups that are laid out, parted and
// summed up as a card's.
const identifiers =
  /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?<![\da-z])(?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64})(?![\da-z])/gi

// Words of digits and hyphens only, with few signs between them.
const runsOfNumbers = /(?<![\p{L}\p{N}-])\+?[\d-]+(?![\p{L}\p{N}-])(?:[^\p{L}\p{N}-]{1,5}[\d-]+(?![\p{L}\p{N}-]))*/gu

// Visa 13, 16 and 19; Mastercard; American Express; Discover; Diners; JCB; UnionPay; Maestro (16 to 19).
const issued =
  /^(?:4\d{12}(?:\d{3})?(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6[37])\d{14,17})$/

/** Groups of digits on cards, and as people write them. */
const layouts = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
  [4, 4, 4, 1],
  [8, 8],
  Array<number>(8).fill(2),
  ...[13, 14, 15, 16, 19].map((length) => Array<number>(length).fill(1)),
]

const widestGap = 5
const partOfWord = /[\p{L}\p{N}-]/u
const letter = /\p{L}/u

/** Whether groups of such a layout stand in the text, with anything of a few characters between them. */
function holdsParted(text: string): boolean {
  const groups = [...text.matchAll(/\d+/g)]
  for (const [at, first] of groups.entries()) {
    const before = text.charAt(first.index - 1)
    if (partOfWord.test(before) && !letter.test(before)) continue
    if (layouts.some((layout) => isCardAt(text, groups, at, layout))) return true
  }
  return false
}

function isCardAt(text: string, groups: readonly RegExpExecArray[], at: number, layout: readonly number[]): boolean {
  let digits = ''
  const start = groups[at]?.index ?? 0
  let end = start
  const gaps: string[] = []
  for (const [offset, length] of layout.entries()) {
    const group = groups[at + offset]
    if (group?.[0].length !== length || group.index - end > widestGap) return false
    digits += group[0]
    if (offset > 0) gaps.push(text.slice(end, group.index))
    end = group.index + length
  }
  const [before, after] = [text.charAt(start - 1), text.charAt(end)]
  const isApart = !partOfWord.test(before) && !partOfWord.test(after)
  // Chance puts one text between groups of an identifier once, hardly ever twice.
  const isParted = gaps.length > 1 && new Set(gaps).size === 1 && letter.test(before) && letter.test(after)
  return (isApart || isParted) && issued.test(digits) && passesLuhn(digits)
}

/** A country code after a plus sign and the length that only old cards have. */
function isPhoneNumber(run: string, digits: string): boolean {
  return run.startsWith('+') && digits.length === shortest
}

/** The text with the digits of all scripts as those of ASCII, and without what has no width. */
function withAsciiDigits(text: string): string {
  // Full-width and other styled digits become those of ASCII here; marks and format characters have no width.
  const plain = text.normalize('NFKC').replace(/[\p{Cf}\p{M}]/gu, '')
  return plain.replace(/[^\P{Nd}0-9]/gu, (digit) => String(decimalValueOf(digit.codePointAt(0) ?? 0)))
}

/** Unicode keeps the ten digits of a script side by side, from zero to nine. */
function decimalValueOf(codePoint: number): number {
  let below = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(codePoint - below - 1))) below++
  return below % 10
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    const value = place % 2 === 0 ? digit : digit * 2
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}
