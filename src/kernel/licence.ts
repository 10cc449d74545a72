/** Licences of open data by their ids in the IATI registry, with the address of their text. */
export const licences = {
  'cc-by': 'https://creativecommons.org/licenses/by/4.0/',
  'cc-by-sa': 'https://creativecommons.org/licenses/by-sa/4.0/',
  'cc-nc': 'https://creativecommons.org/licenses/by-nc/4.0/',
  'cc-zero': 'https://creativecommons.org/publicdomain/zero/1.0/',
  gfdl: 'https://www.gnu.org/licenses/fdl-1.3.html',
  'odc-by': 'https://opendatacommons.org/licenses/by/1-0/',
  'odc-odbl': 'https://opendatacommons.org/licenses/odbl/1-0/',
  'odc-pddl': 'https://opendatacommons.org/licenses/pddl/1-0/',
  'uk-ogl': 'https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/',
} as const

export type LicenceId = keyof typeof licences

export const licenceIds = Object.keys(licences) as LicenceId[]
