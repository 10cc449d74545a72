import { organisationGraphs } from '../../catalogue/sql/organisations.js'
import { projectGraphs } from '../../catalogue/sql/project-graphs.js'
import { type OrganisationTexts, type ProjectTexts, saveTexts } from '../../catalogue/sql/ready-texts/ready-texts.js'
import { organisationRecordVersion, organisationTexts } from '../../catalogue/wire/write/organisation.js'
import { projectRecordVersion, projectTexts } from '../../catalogue/wire/write/project.js'
import { unlessReadOnly } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'

/**
 * Renders the API's texts of these projects and stores them for later reads; deleted projects are left out. A read-only
 * database stores nothing, and the texts are returned all the same.
 */
export async function renderProjectTexts(store: Store, ids: readonly number[]): Promise<ProjectTexts[]> {
  const texts = writableTexts(await projectGraphs(store.db, ids), projectTexts)
  await unlessReadOnly(() => saveTexts(store.db, 'project', projectRecordVersion, texts))
  return texts
}

/** As `renderProjectTexts`, for organisations. */
export async function renderOrganisationTexts(store: Store, ids: readonly number[]): Promise<OrganisationTexts[]> {
  const texts = writableTexts(await organisationGraphs(store.db, ids), organisationTexts)
  await unlessReadOnly(() => saveTexts(store.db, 'organisation', organisationRecordVersion, texts))
  return texts
}

/** The texts of these nouns; one whose text cannot be made is left out and does not stop the others (iati.md 13.3). */
export function writableTexts<Noun, Texts>(nouns: readonly Noun[], write: (noun: Noun) => Texts): Texts[] {
  return nouns.flatMap((noun) => {
    try {
      return [write(noun)]
    } catch {
      return []
    }
  })
}
