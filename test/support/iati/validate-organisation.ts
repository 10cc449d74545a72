import { organisationChecks } from '../../../src/iati/validation/index.js'
import { atOnce } from '../../../src/kernel/yielder.js'

/** All that is wrong with an organisation, found in one turn. */
export function validateOrganisation(...given: Parameters<typeof organisationChecks>) {
  return atOnce(organisationChecks(...given))
}
