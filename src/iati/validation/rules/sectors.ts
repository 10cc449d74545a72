import type { Element } from '../../../kernel/xml/element.js'
import { childOf, childrenOf, hasWords, type RecordView } from '../view.js'
import type { Rule } from './rule.js'
import { allInRange, byAttribute, lacksDac, sharesOf } from './shares.js'

function transactionSectors(record: RecordView): Element[] {
  return record.children('transaction').flatMap((transaction) => childOf(transaction, 'sector') ?? [])
}

const ownVocabularies = new Set(['98', '99'])

export const sectorRules: readonly Rule[] = [
  {
    code: 'sector-missing',
    severity: 'error',
    official: ['6.2.2', '6.7.2'],
    sentence: 'Neither the activity nor its transactions name a sector.',
    check(record, report) {
      if (record.root.name !== 'iati-activity' || record.children('sector').length > 0) return
      if (transactionSectors(record).length === 0)
        report(record.root, 'expected a sector on the activity or on all transactions, got none')
    },
  },
  {
    code: 'sector-on-some-transactions',
    severity: 'error',
    official: ['6.7.2'],
    sentence: 'Some transactions name a sector and others do not.',
    check(record, report) {
      const withSector = transactionSectors(record).length
      if (withSector === 0 || record.children('sector').length > 0) return
      for (const transaction of record.children('transaction')) {
        if (!childOf(transaction, 'sector'))
          report(transaction, 'expected a sector as on the other transactions, got none')
      }
    },
  },
  {
    code: 'sector-at-both-levels',
    severity: 'error',
    official: ['6.6.2'],
    sentence: 'Sectors are named on the activity and on transactions.',
    check(record, report) {
      const [first] = transactionSectors(record)
      if (first && record.children('sector').length > 0)
        report(first, 'expected sectors on the activity or on its transactions, got both')
    },
  },
  {
    code: 'sector-percentage-missing',
    severity: 'error',
    official: ['2.1.1', '2.1.2'],
    sentence: 'One of several sectors of a vocabulary has no percentage.',
    check(record, report) {
      for (const [vocabulary, sectors] of byAttribute(record.children('sector'), 'vocabulary', '1')) {
        for (const sector of sharesOf(sectors).missing) {
          report(
            sector,
            `expected a percentage on each of the ${sectors.length} sectors of vocabulary ${vocabulary}, got none`,
            'percentage',
          )
        }
      }
    },
  },
  {
    code: 'sector-percentage-sum',
    severity: 'error',
    official: ['2.1.2', '2.1.4'],
    sentence: 'The percentages of the sectors of a vocabulary do not add up to 100.',
    check(record, report) {
      for (const [vocabulary, sectors] of byAttribute(record.children('sector'), 'vocabulary', '1')) {
        const { sum } = sharesOf(sectors)
        const [first] = sectors
        if (first && sum !== undefined)
          report(first, `expected 100 for the sectors of vocabulary ${vocabulary}, got ${sum}`, 'percentage')
      }
    },
  },
  {
    code: 'sector-percentage-range',
    severity: 'error',
    official: ['12.3.1'],
    sentence: 'The percentage of a sector lies outside 0 to 100.',
    check: (record, report) => allInRange(record.children('sector'), report),
  },
  {
    code: 'sector-narrative-missing',
    severity: 'error',
    official: ['2.2.1'],
    sentence: "A sector of the publisher's own vocabulary (98, 99) has no narrative.",
    check(record, report) {
      const isOwn = ({ attributes: { vocabulary = '1' } }: Element) => ownVocabularies.has(vocabulary)
      // The official rule counts narratives of all sectors of the activity together, and none of its transactions.
      const counted = record.children('sector').filter(isOwn)
      const isEnough = counted.flatMap((sector) => childrenOf(sector, 'narrative')).length >= counted.length
      for (const sector of record.all('sector')) {
        if (!isOwn(sector) || hasWords(sector)) continue
        const detail = `expected a narrative in a sector of vocabulary ${sector.attributes.vocabulary}, got none`
        report(sector, detail, undefined, isEnough || !counted.includes(sector))
      }
    },
  },
  {
    code: 'sector-vocabulary-uri-missing',
    severity: 'info',
    official: [],
    sentence: "A sector of the publisher's own vocabulary (98, 99) does not say where the vocabulary is found.",
    check(record, report) {
      for (const sector of record.all('sector')) {
        const { vocabulary = '1' } = sector.attributes
        if (ownVocabularies.has(vocabulary) && !sector.attributes['vocabulary-uri']) {
          report(sector, `expected vocabulary-uri on a sector of vocabulary ${vocabulary}, got none`, 'vocabulary-uri')
        }
      }
    },
  },
  {
    code: 'sector-dac-missing',
    severity: 'warning',
    official: ['102.1.1'],
    sentence: 'The activity names sectors, but none of the OECD DAC purpose codes (vocabulary 1).',
    check(record, report) {
      const sectors = record.children('sector')
      const [first] = sectors
      if (first && lacksDac(sectors)) report(first, 'expected at least one sector of vocabulary 1, got none')
    },
  },
]
