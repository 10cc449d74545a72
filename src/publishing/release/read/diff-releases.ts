import { type Decimal, fromMinorUnits, toMinorUnits } from '../../../domain/money.js'
import type { Manifest, Sample } from './manifest.js'
import { activitiesOf, activityFiles, type PublishedActivity } from './release-contents.js'
import type { ReadableRelease } from './release-reader.js'

// Identifiers listed of each kind; the counts are exact.
const maxNamed = 20

/** The differences from one release to another. */
export type ReleaseDiff = {
  readonly from: string
  readonly to: string
  readonly activities: {
    readonly added: Sample
    readonly removed: Sample
    readonly changed: Sample
    readonly same: number
  }
  /** Incoming money by currency. */
  readonly money: Readonly<Record<string, { readonly from: string; readonly to: string; readonly change: string }>>
  readonly files: readonly {
    readonly path: string
    readonly change: 'added' | 'removed' | 'changed' | 'same'
    readonly bytes: { readonly from: number; readonly to: number }
    readonly records: { readonly from: number; readonly to: number }
  }[]
  readonly held: { readonly from: number; readonly to: number }
}

/**
 * Compares two releases activity by activity. A project stays in its file for ever and files are in project order, so one
 * streaming pass over each pair of files is enough.
 */
export async function diffReleases(from: ReadableRelease, to: ReadableRelease): Promise<ReleaseDiff> {
  const added = named()
  const removed = named()
  const changed = named()
  let same = 0
  for (const address of new Set([...activityFiles(from), ...activityFiles(to)])) {
    for await (const [before, after] of inStep(activitiesOf(from, address), activitiesOf(to, address))) {
      if (!before) added.add(after?.identifier ?? '')
      else if (!after) removed.add(before.identifier)
      else if (before.hash !== after.hash) changed.add(after.identifier)
      else same++
    }
  }
  return {
    from: from.id,
    to: to.id,
    activities: { added: added.value(), removed: removed.value(), changed: changed.value(), same },
    money: diffMoney(from.manifest, to.manifest),
    files: diffFiles(from.manifest, to.manifest),
    held: { from: from.manifest.held.count, to: to.manifest.held.count },
  }
}

function named() {
  let count = 0
  const sample: string[] = []
  return {
    add: (identifier: string) => {
      count++
      if (sample.length < maxNamed) sample.push(identifier)
    },
    value: (): Sample => ({ count, sample }),
  }
}

type Pair = readonly [PublishedActivity | undefined, PublishedActivity | undefined]

/** Pairs the activities of two streams in project order. */
async function* inStep(
  left: AsyncGenerator<PublishedActivity>,
  right: AsyncGenerator<PublishedActivity>,
): AsyncGenerator<Pair> {
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
