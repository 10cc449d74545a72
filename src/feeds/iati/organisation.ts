import { type Element, element, textElement } from '../../xml/element.js'
import type { MappingConfig } from './mapping.js'
import { coded, narrated, narrative } from './narrative.js'

/**
 * The publisher's own `iati-organisation` (IATI contract 12), without `last-updated-datetime`: identifier, name,
 * reporting-org, and the page that says what is published.
 */
export function toOrganisation(config: MappingConfig): Element {
  const { ref, name, type } = config.reportingOrg
  return element('iati-organisation', { 'xml:lang': config.language, 'default-currency': config.currency }, [
    textElement('organisation-identifier', ref),
    narrated('name', name),
    element('reporting-org', { ref, type, 'secondary-reporter': '0' }, [narrative(name)]),
    element('document-link', { url: `${config.baseUrl}/`, format: 'text/html' }, [
      narrated('title', `Open data of ${name}`),
      coded('category', 'B16'),
    ]),
  ])
}
