import type { Element } from '../../kernel/xml/element.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { type ActivityIndex, readActivity } from './activity-index.js'
import type { ReadableRelease } from './release-reader.js'

/** A release with its index; a release of an earlier version has none. */
export type IndexedRelease = { readonly release: ReadableRelease; readonly index: ActivityIndex | undefined }

/** An attribute as `@name`, or the children of one name as XML, in two texts of an activity; undefined where there is none. */
export type ChangedElement = {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What differs of an activity between two releases, but for when it was updated; [] where one has no index. */
export async function changedElements(
  before: IndexedRelease,
  after: IndexedRelease,
  identifier: string,
): Promise<ChangedElement[]> {
  const [old, now] = [await publishedActivity(before, identifier), await publishedActivity(after, identifier)]
  return old && now ? differences(old, now) : []
}

/** An activity as a release has it. */
export async function publishedActivity(
  { release, index }: IndexedRelease,
  identifier: string,
): Promise<Element | undefined> {
  const row = index?.rowOf(identifier)
  if (!index || row === undefined) return undefined
  return parseElement(await readActivity(release, index, row), recordLimits)
}

/** What differs between two texts of an activity, but for when it was updated. */
export function differences(before: Element, after: Element): ChangedElement[] {
  const [old, now] = [partsOf(before), partsOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ name, before: old.get(name), after: now.get(name) }))
    .filter((one) => one.before !== one.after)
}

function partsOf({ attributes, children }: Element): Map<string, string> {
  const { 'last-updated-datetime': _, ...stated } = attributes
  const parts = new Map(Object.entries(stated).map(([name, value]) => [`@${name}`, value]))
  for (const child of children) parts.set(child.name, (parts.get(child.name) ?? '') + writeElement(child))
  return parts
}

/** Both texts from shortly before their first difference on, so that a long element shows what changes in it. */
export function differing({ before = '–', after = '–' }: Omit<ChangedElement, 'name'>, longest: number) {
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const from = same > longest / 4 ? same - longest / 8 : 0
  return { before: excerpt(before, from, longest), after: excerpt(after, from, longest) }
}

function excerpt(text: string, from: number, longest: number): string {
  const end = from + longest
  return `${from > 0 ? '… ' : ''}${text.slice(from, end)}${text.length > end ? ' …' : ''}`
}
