import type { DayMeaning, IsoDate } from '../dates.js'
import type { CurrencyCode, Decimal } from '../money.js'
import type { OtherTexts } from '../texts.js'

/** Where a row came from: only this source may change it. */
export type RowSource = 'local' | 'import' | 'upstream' | 'demo'

export type ProjectStatus = 'active' | 'funded' | 'retired'

/** What each kind of field holds. Doors have a reader, a writer or a schema for each kind, not for each field. */
export type FieldKinds = {
  readonly text: string
  /** A text that may be stated as empty, which differs from one that is absent. */
  readonly textOrEmpty: string
  readonly address: string
  readonly addressOrEmpty: string
  /** A number that identifies something. */
  readonly id: number
  readonly count: number
  /** A 64-bit integer as text: it may exceed what a number holds exactly. */
  readonly bigint: string
  readonly boolean: boolean
  readonly money: Decimal
  readonly latitude: Decimal
  readonly longitude: Decimal
  readonly day: IsoDate
  readonly instant: Date
  readonly status: ProjectStatus
  readonly precision: 'point' | 'country'
  readonly source: RowSource
  readonly country: string
  readonly glideNumber: string
  readonly iatiIdentifier: string
  readonly organisationType: string
  readonly externalId: string
  /** What names an organisation, or a project. */
  readonly organisation: number
  readonly project: number
  /** What names a payout, or a gift. */
  readonly reference: string
  readonly currency: CurrencyCode
  readonly positiveAmount: Decimal
  /** Not 0. */
  readonly signedAmount: Decimal
  readonly giftKind: 'gift' | 'refund' | 'fee'
  readonly sector: string
  readonly html: string
  /** Code of ISO 639-1. */
  readonly language: string
  readonly texts: OtherTexts
  readonly themes: readonly string[]
  readonly countries: readonly string[]
  readonly sharedCountries: readonly { readonly country: string; readonly share: Decimal | undefined }[]
  readonly sdgs: readonly string[]
  readonly payouts: readonly { readonly reference: string; readonly date: IsoDate; readonly amount: Decimal }[]
  readonly addresses: readonly string[]
  readonly donationOptions: readonly { readonly amount: Decimal; readonly description: string | undefined }[]
  readonly reportImages: readonly { readonly url: string; readonly mediaType: string | undefined }[]
  readonly image: never
}

type Kind = keyof FieldKinds

/**
 * Who states a field: the noun's record in the wire format, that record's `iati` element, only a file of a platform's own, or
 * this service and its operator.
 */
export type StatedBy = 'record' | 'iati' | 'file' | 'service'

/** A table whose rows are a list of the noun, and its columns; several columns make a list of objects. */
type ListTable = {
  readonly table: string
  readonly columns: string | Readonly<Record<string, string>>
  readonly order: readonly string[]
}

type WirePlace = {
  /** Its place in the order of JSON. */
  readonly at?: number
  /** It is written empty when it is absent, since clients of old read it without a check; others are then left out. */
  readonly always?: true
  /** The summary of the record has it too. */
  readonly summary?: true
}

type FilePlace = {
  /** Its place among the columns. */
  readonly at?: number
  /** Its name in files, where that is not the one on the wire. */
  readonly name?: string
  /** A record must have it. */
  readonly required?: true
  /** A record that leaves it out keeps the stored value, as it does with every field that `iati` states. */
  readonly kept?: true
}

/** A field of a noun, declared once: every door derives from it what it reads, writes and documents. */
export type Field = {
  /** The kind of its value; `?`: it may be absent. */
  readonly kind: Kind | `${Kind}?`
  /** Absent: `record`. */
  readonly by?: StatedBy
  /** What it means, for documents and templates. */
  readonly means?: string
  readonly unit?: string
  /** Two values as CSV writes them; empty: the cell stays empty. */
  readonly examples?: readonly [string, string]
  /** Its name in the wire format and in files, where it has another one there. */
  readonly name?: string
  /** Its column, where that is not its name in snake case. */
  readonly column?: string
  /** The noun has more than a column for it: what belongs to it stands in `list`, if it is a list of plain rows. */
  readonly part?: true
  readonly list?: ListTable
  /** Where the wire record has it; absent: behind the field above. */
  readonly wire?: WirePlace
  /** Where files have it; absent: behind the field above. */
  readonly file?: FilePlace
  /** The only door that has it, where not both do. */
  readonly only?: 'wire' | 'files'
  /** Of a day or an instant: within which bounds it lies. */
  readonly day?: DayMeaning
  /** The record may have it in several languages: see `languagesOfRecord`. */
  readonly inLanguages?: true
  /** It is about a person: only the API's records have it, no feed or file of IATI. */
  readonly private?: true
  /** It is published as `description` of this type of IATI. */
  readonly description?: string
  /** Where it ends up in IATI, for documents. */
  readonly iati?: string
  /** Where it ends up in the API, for documents; absent: under its name. */
  readonly api?: string
  /** The element that is made from it, where that is not a text. */
  readonly element?: string
}

/** The fields of a noun by name. */
export type Noun = Readonly<Record<string, Field>>

type ByOf<F extends Field> = F extends { readonly by: infer By } ? By : 'record'
export type KindOf<F extends Field> = F['kind'] extends `${infer Name extends Kind}?` ? Name : F['kind'] & Kind

/** Names of the fields that are columns of the noun and that `By` states. */
type Names<N extends Noun, By extends StatedBy> = {
  readonly [Name in keyof N]: N[Name] extends { readonly part: true } ? never : ByOf<N[Name]> extends By ? Name : never
}[keyof N]

type OptionalNames<N extends Noun> = {
  readonly [Name in keyof N]: N[Name]['kind'] extends `${string}?` ? Name : never
}[keyof N]

/** The object that has the fields of a noun which are columns, or those of them that `By` states. */
export type FieldsOf<N extends Noun, By extends StatedBy = 'record' | 'iati' | 'service'> = {
  readonly [Name in Exclude<Names<N, By>, OptionalNames<N>>]: FieldKinds[KindOf<N[Name]>]
} & {
  readonly [Name in Extract<Names<N, By>, OptionalNames<N>>]?: FieldKinds[KindOf<N[Name]>] | undefined
}

/** The platform's own id of a record, where it is no whole number. */
export function externalIdOf(what: string) {
  const means = `The platform's own id of ${what}, where it is no whole number: files may name it by this one. id may then be left out: the store gives a number for ever.`
  return { kind: 'externalId?', by: 'file', file: { at: 20, kept: true }, means } as const satisfies Field
}

/** The language of a record, and its texts in other ones: of the fields of the noun that are `inLanguages`. */
export function languagesOfRecord<const By extends 'record' | 'iati'>(by: By, otherwise: string) {
  const language = {
    kind: 'language?',
    by,
    file: { at: 33 },
    means: `Language of its texts, ISO 639-1. Left out: ${otherwise}.`,
    examples: ['en', 'en'],
    iati: 'narrative/@xml:lang',
  } as const satisfies Field
  const texts = {
    kind: 'texts?',
    by,
    means: 'Its texts in other languages, by field and language; in CSV a column for each, such as title@fr.',
    iati: 'narrative, one for each language',
  } as const satisfies Field
  return { language, texts } as const
}

/** A field of a noun with its name. */
export type NamedField = Field & { readonly field: string }

/** The kind of a field, whether it may be absent or not. */
export function kindOf({ kind }: Field): Kind {
  return kind.replace('?', '') as Kind
}

const inNoun = ['record', 'iati', 'service'] as const

/** The fields that are columns of the noun's own table and that one of these states; absent: those that the noun itself has. */
export function columnFields(noun: Noun, by: readonly StatedBy[] = inNoun): NamedField[] {
  return namedFields(noun).filter(({ part, by: statedBy = 'record' }) => !part && by.includes(statedBy))
}

export function namedFields(noun: Noun): NamedField[] {
  return Object.entries(noun).map(([field, one]) => ({ field, ...one }))
}

/** The column of a field: its name in snake case. */
export function columnOf({ field, column }: Pick<NamedField, 'field' | 'column'>): string {
  return column ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The name of a field in the wire format. */
export function wireNameOf({ field, name }: NamedField): string {
  return name ?? field
}

/** The name of a field in files. */
export function fileNameOf({ field, name, file }: NamedField): string {
  return file?.name ?? name ?? field
}

/** The fields of the wire record in the order of JSON. */
export function wireFieldsOf(noun: Noun): NamedField[] {
  return placed(noun, 'wire').filter(({ wire, by = 'record' }) => wire !== undefined || by === 'record')
}

/** Whether the wire record may lack the field. */
export function isOptionalOnWire({ kind, wire }: Field): boolean {
  return kind.endsWith('?') && !wire?.always
}

/** The fields that files state, in the order of their columns. */
export function fileFieldsOf(noun: Noun): NamedField[] {
  return placed(noun, 'file').filter(({ only, by }) => only !== 'wire' && by !== 'service')
}

/** The fields by their places; one without a place follows the field above it. */
function placed(noun: Noun, order: 'wire' | 'file'): NamedField[] {
  let last = 0
  return namedFields(noun)
    .map((one) => {
      last = one[order]?.at ?? last
      return { one, place: last }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}

type Described<N extends Noun> = {
  readonly [Name in keyof N]: N[Name] extends { readonly description: string } ? Name : never
}[keyof N]

/** The fields that are published as a description, by its type. */
export function descriptionsOf<N extends Noun>(noun: N): (readonly [type: string, fields: readonly Described<N>[]])[] {
  const types = new Map<string, Described<N>[]>()
  for (const { field, description } of namedFields(noun)) {
    if (description !== undefined) types.set(description, [...(types.get(description) ?? []), field as Described<N>])
  }
  return [...types].sort()
}
