import { withOnly } from '../iati-editing.js'
import { without } from '../iati-records.js'
import { activity, type Mutant } from './mutant.js'
import {
  country,
  inEach,
  placedIn,
  region,
  second,
  sector,
  sectorNames,
  withOnlyRecipients,
  withRecipients,
  withSectors,
  withTwoTransactions,
} from './parts.js'

const own99 = (code: string, attributes: Record<string, string> = {}, words: string | undefined = 'Own') =>
  sector(code, { vocabulary: '99', 'vocabulary-uri': 'https://giving.example/themes', ...attributes }, words)

/** Rules about sectors, recipients and their shares. */
export const shareMutants: readonly Mutant[] = [
  activity(
    '2.1.1',
    'sector-percentage-missing',
    'a sector without a share',
    withSectors(sector('14031', { percentage: '60' }), sector('11220')),
    withSectors(sector('14031', { percentage: '60' }), sector('11220', { percentage: '40' })),
  ),
  activity(
    '2.1.1',
    'sector-percentage-missing',
    'an own sector without a share',
    withSectors(sector('14031'), own99('a', { percentage: '60' }), own99('b')),
    withSectors(sector('14031'), own99('a', { percentage: '60' }), own99('b', { percentage: '40' })),
  ),
  activity(
    '2.1.2',
    'sector-percentage-sum',
    'sectors that make 99.99',
    withSectors(sector('14031', { percentage: '60' }), sector('11220', { percentage: '39.99' })),
    withSectors(sector('14031', { percentage: '60.01' }), sector('11220', { percentage: '39.99' })),
  ),
  activity(
    '2.1.2',
    'sector-percentage-sum',
    'own sectors that make 110',
    withSectors(sector('14031'), own99('a', { percentage: '60' }), own99('b', { percentage: '50' })),
    withSectors(sector('14031'), own99('a', { percentage: '60' }), own99('b', { percentage: '40' })),
  ),
  activity(
    '2.1.4',
    'sector-percentage-sum',
    'a single sector of half',
    withSectors(sector('14031', { percentage: '50' })),
    withSectors(sector('14031', { percentage: '100' })),
  ),
  activity(
    '2.1.4',
    'sector-percentage-sum',
    'a single own sector of half',
    withSectors(sector('14031'), own99('a', { percentage: '50' })),
    withSectors(sector('14031'), own99('a', { percentage: '100.0' })),
  ),
  activity(
    '2.2.1',
    'sector-narrative-missing',
    'an own sector without words',
    withSectors(sector('14031'), sector('a', { vocabulary: '98', 'vocabulary-uri': 'https://giving.example/themes' })),
    withSectors(sector('14031'), own99('a')),
  ),
  activity(
    '12.3.1',
    'sector-percentage-range',
    'sectors of -1 and 101',
    withSectors(sector('14031', { percentage: '-1' }), sector('11220', { percentage: '101' })),
    withSectors(sector('14031', { percentage: '0' }), sector('11220', { percentage: '100' })),
  ),
  activity(
    '102.1.1',
    'sector-dac-missing',
    'only own sectors',
    withSectors(own99('a')),
    withSectors(sector('14031'), own99('a')),
  ),
  activity('6.2.2', 'sector-missing', 'no sector', withSectors(), withSectors(sector('14031'))),
  activity(
    '6.6.2',
    'sector-at-both-levels',
    'sectors on the activity and a transaction',
    second((one) => placedIn(one, sector('14031'))),
    withTwoTransactions,
  ),
  activity(
    '6.7.2',
    'sector-on-some-transactions',
    'a sector on one transaction only',
    second((one) => without(one, 'sector')),
    (record) => inEach(sector('14031'))(withOnly(withTwoTransactions(record), sectorNames, [])),
  ),
  activity(
    '3.1.1',
    'recipient-percentage-missing',
    'a country without a share',
    withRecipients(country('KE', '60'), country('UG')),
    withRecipients(country('KE', '60'), country('UG', '40')),
  ),
  activity(
    '3.1.2',
    'recipient-percentage-sum',
    'countries that make 99.99',
    withRecipients(country('KE', '60'), country('UG', '39.99')),
    withRecipients(country('KE', '60.01'), country('UG', '39.99')),
  ),
  activity(
    '3.1.4',
    'recipient-percentage-sum',
    'a single country of half',
    withRecipients(country('KE', '50')),
    withRecipients(country('KE', '100')),
  ),
  activity(
    '3.4.1',
    'recipient-percentage-missing',
    'a region without a share',
    withRecipients(region('298', { vocabulary: '1', percentage: '60' }), region('798', { vocabulary: '1' })),
    withRecipients(
      region('298', { vocabulary: '1', percentage: '60' }),
      region('798', { vocabulary: '1', percentage: '40' }),
    ),
  ),
  activity(
    '3.4.2',
    'recipient-percentage-sum',
    'a country and a region that make 90',
    withRecipients(country('KE', '50'), region('798', { vocabulary: '1', percentage: '40' })),
    withRecipients(country('KE', '50'), region('798', { vocabulary: '1', percentage: '50' })),
  ),
  activity(
    '3.4.4',
    'recipient-percentage-sum',
    'a single region of half',
    withRecipients(region('298', { vocabulary: '1', percentage: '50' })),
    withRecipients(region('298', { vocabulary: '1', percentage: '100' })),
  ),
  activity(
    '12.1.1',
    'recipient-percentage-range',
    'countries of -1 and 101',
    withRecipients(country('KE', '-1'), country('UG', '101')),
    withRecipients(country('KE', '0'), country('UG', '100')),
  ),
  activity(
    '12.1.1',
    'recipient-percentage-range',
    'regions of -1 and 101',
    withRecipients(
      region('298', { vocabulary: '1', percentage: '-1' }),
      region('798', { vocabulary: '1', percentage: '101' }),
    ),
    withRecipients(
      region('298', { vocabulary: '1', percentage: '0' }),
      region('798', { vocabulary: '1', percentage: '100' }),
    ),
  ),
  activity(
    '3.6.2',
    'recipient-at-both-levels',
    'a country on the activity, a region on a transaction',
    second((one) => placedIn(one, region('298'))),
    withTwoTransactions,
  ),
  activity('3.7.1', 'recipient-missing', 'no recipient, with transactions', withOnlyRecipients, withTwoTransactions),
  activity(
    '3.7.2',
    'recipient-missing',
    'a recipient on one transaction only',
    second((one) => without(one, 'recipient-country')),
    (record) => inEach(country('KE'))(withOnlyRecipients(withTwoTransactions(record))),
  ),
]
