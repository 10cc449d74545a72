/**
 * A text of a language as it is set: French has a narrow space, at which no line breaks, before `:`, `;`, `?`, `!` and `»`
 * and after `«`; translators type a plain one.
 */
export function withFrenchSpaces(text: string, language: string): string {
  return language === 'fr' ? text.replace(/ (?=[:;?!»])|(?<=«) /g, '\u202f') : text
}
