import type { IsoDate } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { RecordSource } from '../../kernel/record.js'
import type { Db } from '../../platform/database/connection.js'
import type { RowChange } from '../../platform/database/upsert.js'
import type { FileReading } from '../sql/reading.js'
import type { KindFields, RowOf } from './fields.js'
import type { MoneySums, RowMoney, StoredMove } from './receipt.js'

export type ImportSaving = {
  readonly source: RecordSource
  /** The time zone of days that files do not say otherwise; absent: UTC. */
  readonly zone?: string | undefined
  /** The day of the import, in its zone. */
  readonly today: IsoDate
  /** The platform's one currency. */
  readonly currency: CurrencyCode
  /** The configured publisher, who counts where nobody has published yet. */
  readonly publisherRef?: string | undefined
  /** Its name and type, as they are published. */
  readonly publisherName?: string | undefined
  readonly publisherType?: string | undefined
  /** Earlier identifiers of the publisher, where the operator named some. */
  readonly formerly?: readonly string[] | undefined
  /** The file that is being read. */
  readonly file?: string | undefined
  /** Whether people shown on new photos are known to agree to worldwide publication. */
  readonly photoConsent: boolean
  readonly reading: FileReading
  /** The project of Atom feeds whose links do not tell it. */
  readonly project?: number | undefined
  /** Whether stored projects and organisations of a newer page are kept. */
  readonly keepNewer: boolean
  /** Whether what differs from a record that is known already is written. */
  readonly repair?: boolean | undefined
  /** Whether a known reference of money with other values replaces what it said. */
  readonly correct?: boolean | undefined
  /** Names this import; equal for all its files and batches. */
  readonly importId: string
  /** Hears what a batch has moved in the store, of kinds with money; it counts once its transaction is committed. */
  readonly onMoved?: ((move: StoredMove) => void) | undefined
}

/**
 * The outcome of one record: saved, saved except for an operator's overrides, left although the store says something else, or
 * refused for a problem.
 */
export type RecordOutcome =
  | RowChange
  | { readonly change: RowChange; readonly kept: FieldProblem }
  | { readonly change: 'unchanged'; readonly differs: true }
  | FieldProblem

export function isRefusal(outcome: RecordOutcome | undefined): outcome is FieldProblem {
  return typeof outcome === 'object' && 'field' in outcome
}

/** The outcome of a record of which something more was changed. */
export function asChanged(outcome: RecordOutcome): RecordOutcome {
  if (outcome === 'unchanged') return 'changed'
  const isKept = typeof outcome === 'object' && 'kept' in outcome
  return isKept && outcome.change === 'unchanged' ? { ...outcome, change: 'changed' } : outcome
}

/** A kind of records that `giving import` reads from CSV and NDJSON. */
export type Kind<F extends KindFields = KindFields> = {
  /** As in `--kind`, and as files of the kind are named. */
  readonly name: string
  /** What the records are, for docs/reference/import.md. */
  readonly means: string
  /** What an operator should know, for docs/reference/import.md. */
  readonly notes?: string
  readonly fields: F
  /** Fields that identify a record. */
  readonly key: readonly (keyof F & string)[]
  /** Of equal keys in one file: `last` writes the last of a batch only, `each` one after the other. */
  readonly repeated: 'last' | 'each'
  /** How many records of a file are saved together; absent: as many as of any records. */
  readonly together?: number
  /** How the store tells that a file which it read whole would change nothing; absent: it reads the file again. */
  readonly known?: {
    /** Whether the row is only ever added: a later one of the same key does not replace it. */
    isAdded(row: RowOf<F>): boolean
    /** What moves when a stored record changes. */
    version(db: Db): Promise<number>
    /** Whether all that was added is in the store as it came. */
    isWhole(db: Db, saving: ImportSaving): Promise<boolean>
  }
  /** What may stand once in a file, by field; absent: the key. */
  once?(row: RowOf<F>): readonly [field: string, value: string]
  /** Of kinds with money: what a receipt answers for. */
  readonly money?: {
    of(row: RowOf<F>, platform: CurrencyCode): RowMoney
    /** Reads what the store has where these rows may change it; asked before they are saved, and read then and afterwards. */
    stored(db: Db, rows: readonly RowOf<F>[], saving: ImportSaving): Promise<() => Promise<MoneySums>>
  }
  /** Problems of a row whose fields are each valid alone. */
  check?(row: RowOf<F>, saving: ImportSaving): readonly FieldProblem[]
  /** Writes records with different keys in one transaction, and returns the outcome of each. */
  save(db: Db, rows: readonly RowOf<F>[], saving: ImportSaving): Promise<readonly RecordOutcome[]>
}

/** Declares a kind; the type of its rows follows from its fields. */
export function defineKind<const F extends KindFields>(kind: Kind<F>): Kind {
  // Only here a kind loses the type of its rows: what reads them and what saves them stay together in it.
  return kind as unknown as Kind
}
