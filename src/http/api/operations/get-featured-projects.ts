import { selectFeatured } from '../../../catalogue/sql/ready-texts/featured-projects.js'
import type { ProjectView, WireFormat } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { joinRecords, type ListPage } from '../../../catalogue/wire/write/list.js'
import { projectRecordVersion } from '../../../catalogue/wire/write/project.js'
import type { Store } from '../../../platform/database/store.js'

import { projectTextsOf } from './ready-texts.js'
import type { Spoken } from './spoken.js'

const featuredProjects = 10
const hourMs = 3_600_000

/** The featured projects of the current hour (UTC): ten, or all active ones where there are fewer (wire.md 4.4). */
export async function getFeaturedProjects(
  store: Store,
  at: Date,
  { view, format }: { view: ProjectView; format: WireFormat },
  spoken?: Spoken,
): Promise<ListPage> {
  const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs)
  const text = { view, format, recordVersion: projectRecordVersion }
  const rows = await selectFeatured(store.db, hour, featuredProjects, text)
  const records = await projectTextsOf(store, text, rows, spoken)
  return { records: joinRecords(format, records), numberFound: records.length }
}
