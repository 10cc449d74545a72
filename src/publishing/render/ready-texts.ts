import { organisationGraphs } from '../../store/catalogue/organisations.js'
import { projectGraphs } from '../../store/catalogue/project-graphs.js'
import { unlessReadOnly } from '../../store/database/connection.js'
import {
  type OrganisationTexts,
  type ProjectTexts,
  saveOrganisationTexts,
  saveProjectTexts,
} from '../../store/ready-texts/ready-texts.js'
import type { Store } from '../../store/store.js'
import { organizationRecordVersion, organizationTexts } from '../../wire/write/organization.js'
import { projectRecordVersion, projectTexts } from '../../wire/write/project.js'

/**
 * Renders the API's texts of these projects and stores them for later reads; deleted projects are left out. A read-only
 * database stores nothing, and the texts are returned all the same.
 */
export async function renderProjectTexts(store: Store, ids: readonly number[]): Promise<ProjectTexts[]> {
  const texts = (await projectGraphs(store.db, ids)).map(projectTexts)
  await unlessReadOnly(() => saveProjectTexts(store.db, projectRecordVersion, texts))
  return texts
}

/** As `renderProjectTexts`, for organisations. */
export async function renderOrganisationTexts(store: Store, ids: readonly number[]): Promise<OrganisationTexts[]> {
  const texts = (await organisationGraphs(store.db, ids)).map(organizationTexts)
  await unlessReadOnly(() => saveOrganisationTexts(store.db, organizationRecordVersion, texts))
  return texts
}
