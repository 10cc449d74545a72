import { selectFeatured } from '../../store/ready-texts/featured-projects.js'
import type { ProjectView, WireFormat } from '../../store/ready-texts/ready-texts.js'
import { projectRecordVersion } from '../../wire/write/project.js'
import type { ApiDeps } from '../deps.js'
import { joinRecords, type ProjectPage } from '../representations/project-list.js'
import { projectTextsOf } from './ready-texts.js'

const featuredProjects = 10
const hourMs = 3_600_000

/** The featured projects of the running hour (UTC): ten, or all active ones where there are fewer. */
export async function getFeaturedProjects(
  { store, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  { view, format }: { view: ProjectView; format: WireFormat },
): Promise<ProjectPage> {
  const hour = new Date(Math.floor(clock().getTime() / hourMs) * hourMs)
  const text = { view, format, recordVersion: projectRecordVersion }
  const records = await projectTextsOf(store, text, await selectFeatured(store.db, hour, featuredProjects, text))
  return { records: joinRecords(format, records), numberFound: records.length }
}
