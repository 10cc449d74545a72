import { bulkActivitiesPath } from '../../iati/addresses.js'
import { type Decimal, grouped, toMinorUnits } from '../../kernel/money.js'
import type { Manifest, Sample } from '../read/manifest.js'

// The highest number of decimal places of any currency (ISO 4217).
const places = 4
// A release with a larger file is held: it would not reach every consumer (iati.md 15.1).
const maxFileBytes = 40_000_000
// The operator is warned of a larger file (iati.md 15.1).
const warnFileBytes = 20_000_000
// When more activities than this are invalid, and more than half of all, the fault is in the mapping and not in the data.
const fewInvalid = 10

/**
 * Why a release must wait for the operator; undefined when it may go live (architecture.md 2.4). `vanished` are published
 * identifiers that the new release lacks.
 */
export function holdReason(
  live: Manifest['totals'] | undefined,
  next: Manifest['totals'],
  options: {
    readonly maxLossPercent: number
    readonly vanished: Sample
    readonly files: readonly { readonly path: string; readonly bytes: number }[]
    /** Activities whose newest mapping is invalid: in the live release and in this one. */
    readonly invalid?: { readonly live: number; readonly next: number }
    /** Activities whose transactions do not add up to the books. */
    readonly unbalanced?: Sample
  },
): string | undefined {
  const { vanished, maxLossPercent } = options
  if (vanished.count > 0) {
    const named = vanished.sample.join(', ')
    return `${vanished.count} published ${vanished.count === 1 ? 'identifier' : 'identifiers'} would vanish: ${named}`
  }
  const tooLarge = options.files.find((file) => isRegistered(file.path) && file.bytes > maxFileBytes)
  if (tooLarge) return `${tooLarge.path} would have ${tooLarge.bytes} bytes, more than ${maxFileBytes}`
  const { unbalanced } = options
  if (unbalanced && unbalanced.count > 0) {
    const activities = unbalanced.count === 1 ? '1 activity' : `${unbalanced.count} activities`
    return `the transactions of ${activities} do not add up to the books: ${unbalanced.sample.join('; ')}`
  }
  if (!live) return undefined
  if (options.invalid && isMappingBroken(options.invalid, next.activities)) {
    const { invalid } = options
    return `${invalid.next} of ${next.activities} activities would be invalid (${invalid.live} so far): the mapping or its configuration is wrong`
  }
  if (exceedsLoss(BigInt(live.activities), BigInt(next.activities), maxLossPercent)) {
    return `activities would fall from ${live.activities} to ${next.activities}, by more than ${maxLossPercent}%`
  }
  const own = lostMoney('incoming funds', live.money, next.money, maxLossPercent)
  if (own !== undefined || !live.flows || !next.flows) return own
  for (const [kind, named] of Object.entries(kindsOfMoney)) {
    const lost = lostMoney(named, live.flows[kind] ?? {}, next.flows[kind] ?? {}, maxLossPercent)
    if (lost !== undefined) return lost
  }
  return undefined
}

const kindsOfMoney = {
  in: 'incoming funds',
  partners: 'money paid to partners',
  expenditure: 'expenditure',
  budget: 'budgets',
} as const

/** Which currency of a kind of money would lose too much. */
function lostMoney(
  named: string,
  live: Readonly<Record<string, string>>,
  next: Readonly<Record<string, string>>,
  percent: number,
): string | undefined {
  for (const [currency, amount] of Object.entries(live)) {
    const after = next[currency] ?? '0'
    if (exceedsLoss(toMinorUnits(amount as Decimal, places), toMinorUnits(after as Decimal, places), percent)) {
      return `${named} would fall from ${currency} ${grouped(amount)} to ${grouped(after)}, by more than ${percent}%`
    }
  }
  return undefined
}

/** One sentence for each registered file that is larger than consumers want. */
export function largeFileWarnings({ files }: Manifest): string[] {
  return files
    .filter((file) => isRegistered(file.path) && file.bytes > warnFileBytes)
    .map(
      ({ path, bytes }) =>
        `${path} has ${bytes} bytes: consumers ask for at most ${warnFileBytes}, and a release with more than ${maxFileBytes} is held`,
    )
}

/** Whether the file is registered with IATI; the bulk copy and the index are not (iati.md 1.4 and 1.5). */
function isRegistered(path: string): boolean {
  return /^\/iati\/.*\.xml$/.test(path) && path !== bulkActivitiesPath
}

function isMappingBroken(invalid: { readonly live: number; readonly next: number }, activities: number): boolean {
  return invalid.next > fewInvalid && invalid.next > invalid.live && invalid.next * 2 > activities
}

function exceedsLoss(before: bigint, after: bigint, percent: number): boolean {
  return before > 0n && (before - after) * 100n > before * BigInt(percent)
}
