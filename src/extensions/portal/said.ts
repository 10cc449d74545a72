import { type Html, html } from '../../http/pages/html.js'
import { cut, type Language, type Reader } from '../../http/pages/page.js'
import { isRightToLeft } from '../../kernel/right-to-left.js'
import { themeNamed } from '../../kernel/theme-sectors.js'
import type { Element } from '../../kernel/xml/element.js'
import type { ActivityEntry, OtherNames } from '../../release/read/activity-entry.js'
import type { Group, GroupKind } from './project-index.js'
import { narrativeIn } from './record.js'
import { countryName, sectorName, statusName, type View } from './view.js'

/** A text of a record, and the language that it is in. */
export type Said = { readonly text: string; readonly language: string }

/** Where a text of a record is shown: attributes that name its language where the page has another one (WCAG 3.1.2). */
export function spoken({ language: reader }: Reader, { language }: Pick<Said, 'language'>): Html {
  if (language === reader) return html` dir="auto"`
  return html` lang="${language}" dir="${isRightToLeft(language) ? 'rtl' : 'ltr'}"`
}

/** A text of a record in a cell of its own, which is `dir="auto"`: without markup where it is in the reader's language. */
export function cellHtml(view: Reader, said: Said): Html {
  return said.language === view.language ? html`${said.text}` : saidHtml(view, said)
}

/** A text of a record among words of the page. */
export function saidHtml(view: Reader, said: Said, characters?: number): Html {
  return html`<span${spoken(view, said)}>${characters === undefined ? said.text : cut(said.text, characters)}</span>`
}

// What an index says nothing of is in English.
const english = 'en'

/** A name in the reader's language where it has that, else in its own. */
function namedIn({ language }: Reader, name: string, own: string | undefined, others: OtherNames | undefined): Said {
  const text = own === language ? undefined : others?.[language]
  return text === undefined ? { text: name, language: own ?? english } : { text, language }
}

/** The language of the title that a record has first. */
export function ownLanguage({ languages }: ActivityEntry): string {
  return languages?.title ?? english
}

export function titleOf(view: Reader, { title, languages }: ActivityEntry): Said {
  return namedIn(view, title, languages?.title, languages?.titles)
}

export function partnerOf(view: Reader, { partner, languages }: ActivityEntry): Said {
  return namedIn(view, partner?.name ?? '', languages?.partner, languages?.partners)
}

/** A theme: the portal has words for those that the service knows, under the names that it gives them. */
function themeIn(
  { words, language }: Pick<View, 'words' | 'language'>,
  code: string,
  name: string,
  own: string | undefined,
): Said {
  const known = words.themeNames[themeNamed(name) ?? '']
  return known === undefined ? { text: name || code, language: own ?? english } : { text: known, language }
}

/** The themes of a project by their codes. */
export function themesOf(
  view: Pick<View, 'words' | 'language'>,
  { themes, languages }: ActivityEntry,
): (readonly [code: string, name: Said])[] {
  return Object.entries(themes).map(([code, name]) => [code, themeIn(view, code, name, languages?.themes?.[code])])
}

/** What an element of an activity says, in the reader's language where it has that. */
export function saidBy(view: { readonly language: Language }, activity: Element, of: Element | undefined): Said {
  return narrativeIn(of, view.language, activity.attributes['xml:lang'] ?? english)
}

/** The name of a group in the reader's language, where it has one there; of one without projects its key. */
export function groupName(view: View, kind: GroupKind, group: Group | string): Said {
  const key = typeof group === 'string' ? group : group.key
  const coded = { countries: countryName, sectors: sectorName, statuses: statusName }
  const nameOf = Object.hasOwn(coded, kind) ? coded[kind as keyof typeof coded] : undefined
  const known = typeof group === 'string' ? view.projectIndex.groups[kind].get(key) : group
  if (nameOf || !known) return { text: nameOf?.(view, key) ?? key, language: view.language }
  const { name, language, names } = known
  return kind === 'themes' ? themeIn(view, key, name, language) : namedIn(view, name || key, language, names)
}
