/** Languages of the scripts of Arabic, Hebrew and Thaana. */
const rightToLeft = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(?:-|$)/i

/** Whether texts in a language are read from right to left. */
export function isRightToLeft(language: string): boolean {
  return rightToLeft.test(language)
}
