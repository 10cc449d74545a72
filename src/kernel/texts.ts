/**
 * Texts of a record in other languages than its own, each by its field, as files name it, and its language: `title@fr`. An
 * empty one, in what is about to be stored, takes the stored one away.
 */
export type OtherTexts = Readonly<Record<string, string>>

/** A record whose texts may be in several languages. */
export type InLanguages = { readonly language?: string | undefined; readonly texts?: OtherTexts | undefined }

/** The language of a tag, as names in other languages are found: `fr` of `fr-CA` (RFC 5646). */
export function languageOfTag(tag: string): string {
  return /^[a-z]{2,3}$/.test(tag) ? tag : (tag.split('-')[0]?.toLowerCase() ?? '')
}

/** The key of a text. */
export function textKey(field: string, language: string): string {
  return `${field}@${language}`
}

/** The field and the language of a key; undefined for another name. */
export function fieldAndLanguage(key: string): { readonly field: string; readonly language: string } | undefined {
  const at = key.lastIndexOf('@')
  return at > 0 ? { field: key.slice(0, at), language: key.slice(at + 1) } : undefined
}

/** The text of a field in a language that is not the record's own. */
export function textIn({ texts }: InLanguages, field: string, language: string): string | undefined {
  return texts?.[textKey(field, language)] || undefined
}

/** The languages besides its own in which a record has one of these fields, by code. */
export function languagesOf({ texts }: InLanguages, fields: readonly string[]): string[] {
  const languages = new Set<string>()
  for (const key in texts) {
    const { field = '', language = '' } = fieldAndLanguage(key) ?? {}
    if (fields.includes(field)) languages.add(language)
  }
  return [...languages].sort()
}
