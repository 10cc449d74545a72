import { type ActivityIndex, readActivity } from './activity-index.js'
import { activityChildren } from './activity-text.js'
import type { ReadableRelease } from './release-reader.js'

/** A release with its index; a release of an earlier version has none. */
export type IndexedRelease = { readonly release: ReadableRelease; readonly index: ActivityIndex | undefined }

/** The children of one name, as XML, in two releases; undefined where there is none. */
export type ChangedElement = {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The children of an activity whose content differs between two releases; [] where one has no index. */
export async function changedElements(
  before: IndexedRelease,
  after: IndexedRelease,
  identifier: string,
): Promise<ChangedElement[]> {
  const [old, now] = [await textsOf(before, identifier), await textsOf(after, identifier)]
  if (!old || !now) return []
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ name, before: old.get(name), after: now.get(name) }))
    .filter((one) => one.before !== one.after)
}

async function textsOf(
  { release, index }: IndexedRelease,
  identifier: string,
): Promise<Map<string, string> | undefined> {
  const row = index?.rowOf(identifier)
  if (!index || row === undefined) return undefined
  const texts = new Map<string, string>()
  for (const { name, text } of activityChildren((await readActivity(release, index, row)).toString('utf8'))) {
    texts.set(name, (texts.get(name) ?? '') + text)
  }
  return texts
}
