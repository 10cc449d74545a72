import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../kernel/money.js'
import { type ActivityEntry, paidToPartners, toAmount, toUnits } from './activity-entry.js'
import { ActivityIndex, type IndexReader } from './activity-index.js'
import type { Manifest, Sample } from './manifest.js'
import { activitiesOf, activityFiles, type PublishedActivity } from './release-contents.js'
import type { ReadableRelease } from './release-reader.js'

// Identifiers listed of each kind; the counts are exact.
const maxNamed = 20

type Change = { readonly from: string; readonly to: string; readonly change: string }

/** Kinds of money: budgets, and transactions of type 1, 3 and 4. */
const comparedKinds = ['budget', 'in', 'partners', 'expenditure'] as const
type ComparedKind = (typeof comparedKinds)[number]

/** The differences from one release to another. */
export type ReleaseDiff = {
  readonly from: string
  readonly to: string
  readonly activities: {
    readonly added: Sample
    readonly removed: Sample
    readonly changed: Sample
    /** Of the changed ones, those that are closed or cancelled from now on; known where both releases have an index. */
    readonly ended: Sample
    readonly same: number
  }
  /** Incoming money by currency. */
  readonly money: Readonly<Record<string, Change>>
  /** Sums that differ, of money of any kind; known where both releases have an index. */
  readonly sums?: readonly ({ readonly currency: string; readonly kind: ComparedKind } & Change)[]
  readonly files: readonly {
    readonly path: string
    readonly change: 'added' | 'removed' | 'changed' | 'same'
    readonly bytes: { readonly from: number; readonly to: number }
    readonly records: { readonly from: number; readonly to: number }
  }[]
  readonly held: { readonly from: number; readonly to: number }
}

/**
 * Compares two releases activity by activity, by their indexes where they have them. A project stays in its file for ever
 * and files are in project order, so one pass over each pair of files is enough. `most` is how many are named of each kind.
 */
export async function diffReleases(
  from: ReadableRelease,
  to: ReadableRelease,
  {
    readIndex = ActivityIndex.read,
    most = maxNamed,
  }: { readonly readIndex?: IndexReader; readonly most?: number } = {},
): Promise<ReleaseDiff> {
  const added = named(most)
  const removed = named(most)
  const changed = named(most)
  const ended = named(most)
  const [left, right] = [await readIndex(from), await readIndex(to)]
  const [sumsBefore, sumsAfter] = [new Sums(), new Sums()]
  let same = 0
  for (const path of new Set([...activityFiles(from), ...activityFiles(to)])) {
    const pairs = inStep(listed(from, left, path, sumsBefore), listed(to, right, path, sumsAfter))
    for await (const [before, after] of pairs) {
      if (!before) added.add(after?.identifier ?? '')
      else if (!after) removed.add(before.identifier)
      else if (before.hash === after.hash) same++
      else {
        changed.add(after.identifier)
        if (isOver(after) && !isOver(before)) ended.add(after.identifier)
      }
    }
  }
  return {
    from: from.id,
    to: to.id,
    activities: {
      added: added.value(),
      removed: removed.value(),
      changed: changed.value(),
      ended: ended.value(),
      same,
    },
    money: diffMoney(from.manifest, to.manifest),
    ...(left && right && { sums: diffSums(sumsBefore, sumsAfter) }),
    files: diffFiles(from.manifest, to.manifest),
    held: { from: from.manifest.held.count, to: to.manifest.held.count },
  }
}

function named(most: number) {
  let count = 0
  const sample: string[] = []
  return {
    add: (identifier: string) => {
      count++
      if (sample.length < most) sample.push(identifier)
    },
    value: (): Sample => ({ count, sample }),
  }
}

type Listed = Pick<PublishedActivity, 'identifier' | 'projectId' | 'hash'> & { readonly status?: string }

/** Codes of ActivityStatus: closed, cancelled. */
function isOver({ status }: Listed): boolean {
  return status === '4' || status === '5'
}

type Pair = readonly [Listed | undefined, Listed | undefined]

// Entries read before other work gets a turn.
const entriesTogether = 500

async function* listed(
  release: ReadableRelease,
  index: ActivityIndex | undefined,
  path: string,
  sums: Sums,
): AsyncGenerator<Listed> {
  if (!index) return yield* activitiesOf(release, path)
  const { from, to } = index.rowsOf(path)
  for (let row = from; row < to; row++) {
    const { identifier, project, hash, status, money } = index.entry(row)
    sums.add(money)
    yield { identifier, projectId: project, hash, status }
    if (row % entriesTogether === 0) await nextTurn()
  }
}

/** Money of activities by currency and kind. */
class Sums extends Map<string, Record<ComparedKind, bigint>> {
  add(money: ActivityEntry['money']): void {
    for (const [currency, sums] of Object.entries(money)) {
      const all = this.get(currency) ?? { budget: 0n, in: 0n, partners: 0n, expenditure: 0n }
      this.set(currency, all)
      const amounts = { ...sums, partners: paidToPartners(sums), expenditure: sums.expenditure ?? zero }
      for (const kind of comparedKinds) all[kind] += toUnits(amounts[kind])
    }
  }
}

const zero = '0' as Decimal

function diffSums(before: Sums, after: Sums): NonNullable<ReleaseDiff['sums']> {
  const currencies = [...new Set([...before.keys(), ...after.keys()])].sort()
  return currencies.flatMap((currency) =>
    comparedKinds.flatMap((kind) => {
      const [from, to] = [before.get(currency)?.[kind] ?? 0n, after.get(currency)?.[kind] ?? 0n]
      return from === to ? [] : { currency, kind, from: toAmount(from), to: toAmount(to), change: toAmount(to - from) }
    }),
  )
}

/** Pairs the activities of two streams in project order. */
async function* inStep(left: AsyncGenerator<Listed>, right: AsyncGenerator<Listed>): AsyncGenerator<Pair> {
  let a = await left.next()
  let b = await right.next()
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : a.value.projectId - b.value.projectId
    yield [order <= 0 && !a.done ? a.value : undefined, order >= 0 && !b.done ? b.value : undefined]
    if (order <= 0) a = await left.next()
    if (order >= 0) b = await right.next()
  }
}

// The highest number of decimal places of any currency (ISO 4217).
const places = 4

function diffMoney(from: Manifest, to: Manifest): ReleaseDiff['money'] {
  const currencies = [...new Set([...Object.keys(from.totals.money), ...Object.keys(to.totals.money)])].sort()
  return Object.fromEntries(
    currencies.map((currency) => {
      const [before, after] = [from, to].map(({ totals }) => (totals.money[currency] ?? '0') as Decimal) as [
        Decimal,
        Decimal,
      ]
      const change = fromMinorUnits(toMinorUnits(after, places) - toMinorUnits(before, places), places)
      return [currency, { from: before, to: after, change }]
    }),
  )
}

function diffFiles(from: Manifest, to: Manifest): ReleaseDiff['files'] {
  const before = new Map(from.files.map((file) => [file.path, file]))
  const after = new Map(to.files.map((file) => [file.path, file]))
  return [...new Set([...before.keys(), ...after.keys()])].map((path) => {
    const [old, now] = [before.get(path), after.get(path)]
    const change = !old ? 'added' : !now ? 'removed' : old.sha256 === now.sha256 ? 'same' : 'changed'
    return {
      path,
      change,
      bytes: { from: old?.bytes ?? 0, to: now?.bytes ?? 0 },
      records: { from: old?.records ?? 0, to: now?.records ?? 0 },
    }
  })
}
