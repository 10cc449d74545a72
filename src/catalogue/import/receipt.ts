import { hash } from 'node:crypto'
import { type CurrencyCode, type Decimal, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../../kernel/money.js'
import type { FileReading } from '../sql/reading.js'
import type { ImportReceipt, ReceiptLine } from '../sql/receipts.js'

/** Money of a row: as its file states it, and as it counts in the platform's currency. */
export type RowMoney = {
  readonly kind: string
  readonly month: string
  readonly stated: { readonly amount: Decimal; readonly currency: CurrencyCode }
  readonly counted: { readonly amount: Decimal; readonly currency: CurrencyCode }
}

/** Units of money by currency, kind and month. */
export type MoneySums = Map<string, bigint>

/** What the store had and has of the money that a batch may move, and whether a record of it replaced an earlier one. */
export type StoredMove = { readonly before: MoneySums; readonly after: MoneySums; readonly replaces: boolean }

// Amounts of records have at most three decimals.
const places = 3

function keyOfSum(currency: string, kind: string, month: string): string {
  return `${currency} ${kind} ${month.slice(0, 7)}`
}

/** Adds an amount to the sum of its key. */
function addTo(sums: MoneySums, key: string, amount: Decimal): void {
  sums.set(key, (sums.get(key) ?? 0n) + toMinorUnits(amount, places))
}

/** Rows of a statement with currency, kind, month and amount, as sums. */
export function sumsOf(
  rows: readonly {
    readonly currency: string
    readonly kind: string
    readonly month: string
    readonly amount: Decimal
  }[],
): MoneySums {
  const sums: MoneySums = new Map()
  for (const { currency, kind, month, amount } of rows) addTo(sums, keyOfSum(currency, kind, month), amount)
  return sums
}

/** Counts the money of an import's rows while it runs, and what the store says of it. */
export class ReceiptTally {
  readonly #file: MoneySums = new Map()
  readonly #parts = { taken: new Map(), refused: new Map(), leftOut: new Map() } as Record<MoneyFate, MoneySums>
  readonly #created: MoneySums = new Map()
  readonly #moved: MoneySums = new Map()
  /** Keys of which an earlier amount was replaced, so that what came in is not what the store moved by. */
  readonly #replacing = new Set<string>()
  replaced = 0
  unreadable = 0

  /** A row of the file, whatever becomes of it. */
  read(money: RowMoney | undefined): void {
    if (money) addTo(this.#file, statedKey(money), money.stated.amount)
  }

  /** What became of a row of the file. */
  settle(fate: MoneyFate, money: RowMoney | undefined, change?: 'created' | 'changed' | 'unchanged'): void {
    if (!money) return
    addTo(this.#parts[fate], statedKey(money), money.stated.amount)
    const { counted, kind, month } = money
    const key = keyOfSum(counted.currency, kind, month)
    if (change === 'created') addTo(this.#created, key, counted.amount)
    if (change === 'changed') this.#replacing.add(key)
  }

  /** What a batch has moved in the store. */
  move({ before, after, replaces }: StoredMove): void {
    // What is corrected may have stood in another month.
    if (replaces) for (const key of before.keys()) this.#replacing.add(key)
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const by = (after.get(key) ?? 0n) - (before.get(key) ?? 0n)
      this.#moved.set(key, (this.#moved.get(key) ?? 0n) + by)
    }
  }

  /** Keys of the sums that the import may have moved in the store. */
  get movedKeys(): readonly string[] {
    return [...this.#moved.keys()]
  }

  /** Why the receipt does not balance; undefined: it does. */
  imbalance(rows: ImportReceipt['rows']): string | undefined {
    const counted = rows.taken + rows.refused + rows.leftOut + rows.replaced
    if (counted !== rows.in) return `${rows.in} rows came in, and ${counted} were taken, refused and left out`
    for (const [key, file] of this.#file) {
      const settled = fates.reduce((sum, fate) => sum + (this.#parts[fate].get(key) ?? 0n), 0n)
      if (settled !== file)
        return `${key}: the file has ${text(file)}, and what was taken, refused and left out is ${text(settled)}`
    }
    for (const [key, by] of this.#moved) {
      const created = this.#created.get(key) ?? 0n
      if (by !== created && !this.#replacing.has(key))
        return `${key}: the rows that are new have ${text(created)}, and the store moved by ${text(by)}`
    }
    return undefined
  }

  /** `after`: the sums of the store now, of the keys that were moved. */
  lines(after: MoneySums): ReceiptLine[] {
    const moved = [...this.#moved].flatMap(([key, by]) => (by === 0n ? [] : [key]))
    const keys = new Set([...this.#file.keys(), ...moved])
    return [...keys].sort().map((key): ReceiptLine => {
      const [currency = '', kind = '', month = ''] = key.split(' ')
      const shown = (units: bigint | undefined) => text(units ?? 0n, currency)
      const moved = this.#moved.get(key)
      const now = after.get(key) ?? 0n
      return {
        ...{ currency, kind, month, file: shown(this.#file.get(key)) },
        taken: shown(this.#parts.taken.get(key)),
        refused: shown(this.#parts.refused.get(key)),
        leftOut: shown(this.#parts.leftOut.get(key)),
        ...(moved !== undefined && { before: shown(now - moved), after: shown(now) }),
      }
    })
  }
}

type MoneyFate = 'taken' | 'refused' | 'leftOut'
const fates: readonly MoneyFate[] = ['taken', 'refused', 'leftOut']

function statedKey({ kind, month, stated }: RowMoney): string {
  return keyOfSum(stated.currency, kind, month)
}

function text(units: bigint, currency = ''): string {
  const decimals = currency === '' ? places : minorUnitExponent(currency as CurrencyCode)
  const whole = fromMinorUnits(units, places)
  const shown = whole.slice(0, whole.length - places + decimals)
  const isExact = /^0*$/.test(whole.slice(shown.length))
  return isExact ? shown.replace(/\.$/, '') : whole
}

/** The hash of how files are read; the same for the same members in any order. */
export function hashOfReading(reading: FileReading): string | undefined {
  const sorted = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .flatMap(([name, part]) => (part === undefined ? [] : [[name, sorted(part)]])),
        )
      : value
  const json = JSON.stringify(sorted(reading))
  return json === '{}' ? undefined : hash('sha256', json)
}

/** The lines of a receipt by currency and kind, all months together. */
export function sumsByKind({ sums }: Pick<ImportReceipt, 'sums'>): Omit<ReceiptLine, 'month'>[] {
  const totals = new Map<string, Record<string, bigint>>()
  for (const { currency, kind, month: _month, ...amounts } of sums) {
    const key = `${currency} ${kind}`
    const total = totals.get(key) ?? {}
    for (const [name, amount] of Object.entries(amounts))
      total[name] = (total[name] ?? 0n) + toMinorUnits(amount as Decimal, places)
    totals.set(key, total)
  }
  return [...totals].map(([key, total]) => {
    const [currency = '', kind = ''] = key.split(' ')
    const amounts = Object.fromEntries(Object.entries(total).map(([name, units]) => [name, text(units, currency)]))
    return { currency, kind, ...amounts } as Omit<ReceiptLine, 'month'>
  })
}
