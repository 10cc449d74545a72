/**
 * Who states a field: the project or organisation record in the wire format, that record's `iati` element, or this
 * service and its operator.
 */
export type StatedBy = 'record' | 'iati' | 'service'

/** A field: its name, the kind of its value (`?`: it may be absent), and who states it. */
type FieldRow<Kinds> = readonly [
  name: string,
  kind: (keyof Kinds & string) | `${keyof Kinds & string}?`,
  statedBy: StatedBy,
]

/** The fields of a noun; `Kinds` has the type of every kind of value. */
export type FieldTable<Kinds> = readonly FieldRow<Kinds>[]

/** A table of fields of any kinds. */
export type AnyFieldTable = readonly (readonly [name: string, kind: string, statedBy: StatedBy])[]

type Optional<Row> = Row extends readonly [string, `${string}?`, StatedBy] ? Row : never
type Required<Row> = Exclude<Row, Optional<Row>>
type KindOf<Row extends AnyFieldTable[number]> = Row[1] extends `${infer Kind}?` ? Kind : Row[1]

/** The object that has the fields of a table, or those of them that `By` states. */
export type FieldsOf<Table extends AnyFieldTable, Kinds, By extends StatedBy = StatedBy> = FieldsOfRows<
  Extract<Table[number], readonly [string, string, By]>,
  Kinds
>

type FieldsOfRows<Row extends AnyFieldTable[number], Kinds> = {
  readonly [R in Required<Row> as R[0]]: Kinds[KindOf<R> & keyof Kinds]
} & {
  readonly [R in Optional<Row> as R[0]]?: Kinds[KindOf<R> & keyof Kinds] | undefined
}
