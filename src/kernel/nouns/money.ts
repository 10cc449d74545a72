import type { Field, Noun } from './field.js'

/** The project that a record belongs to. */
export const projectOfRecord = {
  kind: 'project',
  by: 'file',
  column: 'project_id',
  file: { required: true },
  means: 'Number or externalId of the project.',
  examples: ['101', '102'],
} as const satisfies Field

const currency = {
  kind: 'currency',
  file: { required: true },
  means: "ISO 4217; always the platform's one currency.",
  examples: ['USD', 'USD'],
  iati: 'value/@currency',
} as const satisfies Field

/** Money that may have moved in another currency. */
const moved = {
  currency: { ...currency, means: "ISO 4217: the platform's currency, or another one with settledAmount." },
  settledAmount: {
    kind: 'signedAmount?',
    by: 'file',
    part: true,
    unit: "the platform's currency",
    means:
      "Of an amount in another currency: what was settled for it in the platform's, as the bank says. It counts; no rate is ever guessed.",
    iati: 'value',
  },
} as const satisfies Noun

/** Gifts, as files state them: each, or the sums of months. */
export const giftFields = {
  project: { ...projectOfRecord, examples: ['101', '101'] },
  lastOn: {
    kind: 'day',
    name: 'date',
    day: 'fact',
    file: { required: true },
    means: 'Day of the gift; of a sum, the last day of the month on which money moved. Not in the future.',
    examples: ['2025-03-05', '2025-04-30'],
    iati: 'transaction-date (the last day of the month, or in the running month the last day of a gift)',
  },
  amount: {
    kind: 'signedAmount',
    file: { required: true },
    unit: 'currency',
    means: 'Amount; negative: a refund, which is a row of its own.',
    examples: ['25.00', '13105.50'],
    api: 'funding, remaining',
    iati: 'transaction type 1, one of each project and month',
  },
  ...moved,
  kind: {
    kind: 'giftKind',
    by: 'file',
    means: 'Left out: gift for an amount above 0, else refund. fee: what the platform or the card kept.',
    iati: 'fee: transaction type 4',
  },
  reference: {
    kind: 'reference?',
    by: 'file',
    part: true,
    means: 'Of a single gift, unique; only a hash of it is kept. Left out: the row is the sum of a month.',
    examples: ['G-20417', ''],
  },
  count: {
    kind: 'count',
    means: 'Number of gifts in the row. Needed for a sum; left out beside a reference: 1.',
    examples: ['', '44'],
    api: 'numberOfDonations',
  },
  funder: {
    kind: 'organisation?',
    by: 'file',
    column: 'funder_id',
    means: 'Number or externalId of the organisation that gave; import funders first. Left out: the public.',
    examples: ['', '501'],
    iati: 'provider-org, participating-org role 1',
  },
} as const satisfies Noun

/** The fields of a payout that was made. */
export const disbursementFields = {
  project: projectOfRecord,
  disbursedOn: {
    kind: 'day',
    name: 'date',
    day: 'fact',
    file: { required: true },
    means: 'Day of the payout, not in the future.',
    examples: ['2025-06-30', '2025-09-30'],
    iati: 'transaction-date',
  },
  amount: {
    kind: 'signedAmount',
    file: { required: true },
    unit: 'currency',
    means: 'Amount; negative: money that came back.',
    examples: ['2500.00', '1200.50'],
    iati: 'transaction type 3; in another currency: its description',
  },
  ...moved,
  reference: {
    kind: 'reference',
    file: { required: true },
    means: 'Unique: the same reference is the same payout, and fulfils the payout plan of that reference.',
    examples: ['P-2025-1', 'P-2025-2'],
    iati: 'transaction/@ref',
  },
  receiver: {
    kind: 'organisation?',
    by: 'file',
    column: 'receiver_id',
    means: "Number or externalId of the organisation that was paid. Left out: the project's own.",
    examples: ['', '8'],
    iati: 'receiver-org',
  },
} as const satisfies Noun

/** The fields of a payout that is agreed on. */
export const payoutPlanFields = {
  project: projectOfRecord,
  plannedOn: {
    kind: 'day',
    name: 'date',
    day: 'plan',
    file: { required: true },
    means: 'Day on which it will be paid.',
    examples: ['2027-03-31', '2027-09-30'],
    iati: 'planned-disbursement/period-start',
  },
  amount: {
    kind: 'positiveAmount',
    file: { required: true },
    unit: 'currency',
    means: 'Amount.',
    examples: ['2500.00', '2500.00'],
    iati: 'planned-disbursement/value',
  },
  currency,
  reference: {
    kind: 'reference',
    file: { required: true },
    means: 'Unique among all projects; a disbursement of the same reference fulfils it.',
    examples: ['P-2027-1', 'P-2027-2'],
  },
} as const satisfies Noun
