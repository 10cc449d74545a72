import type { Element } from '../../../kernel/xml/element.js'
import { quoted } from '../findings.js'
import { childOf, hasWords, type RecordView } from '../view.js'
import type { Report, Rule } from './rule.js'

const named = ['participating-org', 'owner-org', 'provider-org', 'receiver-org'] as const

/** The organisations of a record with neither an identifier nor words that name them. */
const nameless = (record: RecordView): Element[] =>
  named.flatMap((name) => record.all(name).filter((one) => !one.attributes.ref && !hasWords(one)))

/** Whether the attribute or the element that would name an organisation is there, empty or not. */
const claimsName = (organisation: Element): boolean =>
  organisation.attributes.ref !== undefined || childOf(organisation, 'narrative') !== undefined

/** What the official rules count as content: white space too. */
const hasText = ({ children }: Element): boolean =>
  children.some(({ name, text }) => name === 'narrative' && text !== '')

/** Reports the elements of this name in which no narrative has words. */
function allHaveWords(name: string, record: RecordView, report: Report): void {
  for (const element of record.all(name)) {
    if (!hasWords(element))
      report(element, `expected a narrative with words in ${name}, got none`, undefined, hasText(element))
  }
}

const absoluteUrl = /^https?:\/\/[^\s/?#]+/i

export const textRules: readonly Rule[] = [
  {
    code: 'language-missing',
    severity: 'error',
    official: ['4.1.1', '4.5.1'],
    sentence: 'The record names no language, and not all of its narratives do.',
    check(record, report) {
      if (record.root.attributes['xml:lang'] !== undefined) return
      for (const narrative of record.all('narrative')) {
        if (narrative.attributes['xml:lang'] !== undefined) continue
        report(record.root, 'expected xml:lang on the record or on each narrative, got neither', 'xml:lang')
        return
      }
    },
  },
  {
    code: 'title-empty',
    severity: 'error',
    official: ['4.3.1'],
    sentence: 'A title has no words.',
    check: (record, report) => allHaveWords('title', record, report),
  },
  {
    code: 'description-empty',
    severity: 'error',
    official: ['4.4.1'],
    sentence: 'A description has no words.',
    check: (record, report) => allHaveWords('description', record, report),
  },
  {
    code: 'narrative-empty',
    severity: 'warning',
    official: [],
    sentence: 'A narrative is there but has no words; it should be left out.',
    check(record, report) {
      for (const narrative of record.all('narrative')) {
        if (!/\S/.test(narrative.text)) report(narrative, 'expected words in narrative, got none')
      }
    },
  },
  {
    code: 'organisation-unnamed',
    severity: 'error',
    official: ['6.8.1', '6.9.1', '6.9.2', '6.10.1'],
    sentence: 'An organisation has neither an identifier nor a name.',
    check(record, report) {
      for (const organisation of nameless(record)) {
        if (!claimsName(organisation))
          report(organisation, `expected ref or a narrative in ${organisation.name}, got neither`)
      }
    },
  },
  {
    code: 'organisation-blank',
    severity: 'error',
    // The official rules are content with an empty identifier or narrative.
    severityElsewhere: 'warning',
    official: [],
    sentence: 'An organisation has only an empty identifier or an empty name.',
    check(record, report) {
      for (const organisation of nameless(record)) {
        if (claimsName(organisation))
          report(organisation, `expected ref or a narrative with words in ${organisation.name}, got empty ones`)
      }
    },
  },
  {
    code: 'policy-marker-narrative',
    severity: 'error',
    official: ['6.13.1'],
    sentence: "A policy marker of the publisher's own vocabulary (99) has no narrative.",
    check(record, report) {
      for (const marker of record.children('policy-marker')) {
        if (marker.attributes.vocabulary !== '99' || hasWords(marker)) continue
        const isThere = childOf(marker, 'narrative') !== undefined
        report(marker, 'expected a narrative in a policy-marker of vocabulary 99, got none', undefined, isThere)
      }
    },
  },
  {
    code: 'policy-marker-significance',
    severity: 'error',
    official: ['6.14.1'],
    sentence: 'A policy marker of vocabulary 1 has no significance.',
    check(record, report) {
      for (const marker of record.children('policy-marker')) {
        if ((marker.attributes.vocabulary || '1') !== '1' || marker.attributes.significance !== undefined) continue
        report(marker, 'expected significance on a policy-marker of vocabulary 1, got none', 'significance')
      }
    },
  },
  {
    code: 'url-unusable',
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'The address of a document is not an absolute http or https URL.',
    check(record, report) {
      for (const link of record.all('document-link')) {
        const { url } = link.attributes
        if (url === undefined || (absoluteUrl.test(url) && !/\s/.test(url) && URL.canParse(url))) continue
        report(link, `expected an absolute http or https URL, got ${quoted(url)}`, 'url')
      }
    },
  },
]
