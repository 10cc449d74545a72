import { projectFeedPath } from '../../iati/addresses.js'
import type { Element } from '../../kernel/xml/element.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import type { ActivityEntry } from '../../release/read/activity-entry.js'
import { readActivity } from '../../release/read/activity-index.js'
import { readReports, type ShownReport } from './read-reports.js'
import type { View } from './view.js'

/** A project with what its page is drawn from: its published record and its reports. */
export type ShownProject = {
  readonly view: View
  readonly entry: ActivityEntry
  readonly activity: Element
  readonly reports: readonly ShownReport[]
}

/** The published record of the project of this number; undefined when it has none. */
export async function readRecord({ release, index }: View, id: string) {
  const row = /^\d{1,15}$/.test(id) ? index.rowOfProject(Number(id)) : undefined
  if (row === undefined) return undefined
  return {
    entry: index.entry(row),
    activity: parseElement(await readActivity(release, index, row), recordLimits),
  }
}

/** The same with its reports. */
export async function readProject(view: View, id: string): Promise<ShownProject | undefined> {
  const record = await readRecord(view, id)
  return record && { view, ...record, reports: await readReports(view.release, projectFeedPath(record.entry.project)) }
}
