import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectFeedPath } from '../../iati/addresses.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import { indexedActivities } from '../../release/read/activity-index.js'
import { activityChildren, unescapeText } from '../../release/read/activity-text.js'
import { activitiesOf, activityFiles } from '../../release/read/release-contents.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'

// Of the reports of a project its page shows as many.
const shownReports = 20

/** Addresses of pictures on the pages of a release, each once: those of cards, then those of single projects. */
export async function* picturesOf(release: ReadableRelease): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const url of shownPictures(release)) {
    if (seen.has(url) || !/^https?:\/\//i.test(url)) continue
    seen.add(url)
    yield url
  }
}

async function* shownPictures(release: ReadableRelease): AsyncGenerator<string> {
  for await (const entries of indexedActivities(release)) {
    for (const { picture } of entries) if (picture !== undefined) yield picture
  }
  for (const path of activityFiles(release)) {
    for await (const { projectId, text } of activitiesOf(release, path)) {
      for (const { name, attribute } of activityChildren(text)) {
        if (name === 'document-link' && attribute('format')?.startsWith('image/')) yield attribute('url') ?? ''
      }
      yield* picturesOfReports(release, projectId)
      await nextTurn()
    }
  }
}

async function* picturesOfReports(release: ReadableRelease, projectId: number): AsyncGenerator<string> {
  const file = await release.find(projectFeedPath(projectId))
  if (!file) return
  const { children } = parseElement(await file.identity.bytes(), recordLimits)
  for (const entry of children.filter(({ name }) => name === 'entry').slice(0, shownReports)) {
    for (const { name, attributes, text } of entry.children) {
      if (name === 'link' && attributes.rel === 'enclosure') yield attributes.href ?? ''
      if (name !== 'content') continue
      for (const [, url = ''] of text.matchAll(/<img\b[^>]*\bsrc="([^"]*)"/g)) yield unescapeText(url)
    }
  }
}
