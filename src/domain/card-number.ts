/**
 * Whether a text holds what may be the number of a payment card: 14 to 19 digits of a known issuer's length and
 * beginning that pass the Luhn check, with or without blanks or hyphens between them. Digits inside of a longer word, such
 * as a UUID, are none.
 */
export function holdsCardNumber(text: string): boolean {
  if (!atLeastFourteenDigits.test(text)) return false
  for (const [found] of text.matchAll(digitGroups)) {
    // Hyphens join what blanks may part: a UUID made of digits is one word.
    const groups = found.replaceAll('-', '').split(' ')
    for (let first = 0; first < groups.length; first++) {
      let digits = ''
      for (let last = first; last < groups.length && digits.length < 19; last++) {
        digits += groups[last] ?? ''
        if (issued.test(digits) && passesLuhn(digits)) return true
      }
    }
  }
  return false
}

// Most texts have no number in them, and are not looked at any further.
const atLeastFourteenDigits = /(?:\d[ -]?){14}/
const digitGroups = /(?<![\w-])\d+(?:[ -]\d+)*(?![\w-])/g

// Visa 16 and 19; Mastercard; American Express; Discover; Diners; JCB; UnionPay; Maestro (16 to 19).
const issued =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6[37])\d{14,17})$/

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    const value = place % 2 === 0 ? digit : digit * 2
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}
