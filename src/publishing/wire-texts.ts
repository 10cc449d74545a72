import { organisationGraphs } from '../store/organisation-graphs.js'
import { projectGraphs } from '../store/project-graphs.js'
import type { Store } from '../store/store.js'
import {
  type OrganisationTexts,
  type ProjectTexts,
  saveOrganisationTexts,
  saveProjectTexts,
} from '../store/wire-records.js'
import { organizationMapping, organizationTexts } from '../wire/organization.js'
import { projectMapping, projectTexts } from '../wire/project.js'

/** Renders the records of these projects and keeps them for later reads; deleted ones are left out. */
export async function renderProjectTexts(store: Store, ids: readonly number[]): Promise<ProjectTexts[]> {
  const texts = (await projectGraphs(store.db, ids)).map(projectTexts)
  await saveProjectTexts(store.db, projectMapping, texts)
  return texts
}

/** As `renderProjectTexts`, of organisations. */
export async function renderOrganisationTexts(store: Store, ids: readonly number[]): Promise<OrganisationTexts[]> {
  const texts = (await organisationGraphs(store.db, ids)).map(organizationTexts)
  await saveOrganisationTexts(store.db, organizationMapping, texts)
  return texts
}
