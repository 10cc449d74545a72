import {
  columnFields,
  columnOf,
  type FieldKinds,
  type FieldsOf,
  fileFieldsOf,
  fileNameOf,
  type KindOf,
  kindOf,
  type NamedField,
  type Noun,
  wireFieldsOf,
  wireNameOf,
} from '../../kernel/nouns/field.js'
import type { ClearedColumns } from '../sql/clear-columns.js'
import type { NumberedTable } from '../sql/external-ids.js'
import { glideNumber } from '../wire/read/publication-fields.js'
import * as type from './field-types.js'
import type { KindField, KindFields } from './fields.js'

const expectedReference = 'a text of 1 to 200 characters, no number that a spreadsheet has rounded'

/** How files write each kind of field. */
const types: { readonly [Kind in keyof FieldKinds]?: type.FieldType<FieldKinds[Kind]> } = {
  text: type.text,
  textOrEmpty: type.text,
  address: type.address,
  addressOrEmpty: type.address,
  id: type.identifier,
  count: type.count,
  bigint: type.shaped('BRIDGE number', 'a whole number', /^\d{1,18}$/),
  boolean: type.yesNo,
  money: type.amount,
  latitude: type.latitude,
  longitude: type.longitude,
  day: type.day,
  instant: type.instant,
  status: type.choice('active', 'funded', 'retired'),
  precision: type.choice('point', 'country'),
  country: type.country,
  glideNumber: type.shaped('GLIDE number', glideNumber.expected, glideNumber.pattern),
  iatiIdentifier: type.shaped(
    'IATI identifier',
    'an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \\',
    // The store knows which projects moved here with an identifier that would not be given anew.
    /^(?=.{1,1000}$)[^\s\p{Cc}](?:\P{Cc}*[^\s\p{Cc}])?$/u,
  ),
  organisationType: type.code('OrganisationType', 'a code of the IATI list OrganisationType, such as 22'),
  externalId: type.externalId,
  organisation: type.organisationReference,
  project: type.projectReference,
  reference: { ...type.shaped('text', expectedReference, /^(?!\d(?:[.,]\d+)?E\+\d+$).{1,200}$/su), isFree: true },
  currency: type.currency,
  positiveAmount: type.positiveAmount,
  signedAmount: type.signedAmount,
  giftKind: type.choice('gift', 'refund', 'fee'),
  sector: type.code('Sector', 'an active code of the IATI Sector list, five digits'),
  html: type.htmlText,
  language: type.language,
  themes: type.listOf(type.text),
  countries: type.listOf(type.country),
  sharedCountries: type.entriesOf('countries such as KE|UG, or with shares in per cent such as KE:60|UG:40', {
    country: { type: type.country },
    share: { type: type.share, optional: true },
  }),
  sdgs: type.listOf(type.sdg),
  payouts: type.entriesOf('payouts such as P-1:2027-03-31:2500.00|P-2:2027-09-30:2500.00', {
    reference: { type: type.text },
    date: { type: type.day },
    amount: { type: type.positiveAmount },
  }),
  addresses: type.listOf(type.address),
  reportImages: type.entriesOf(
    'addresses of pictures with | between them',
    { url: { type: type.address }, mediaType: { type: type.text, optional: true } },
    true,
  ),
  donationOptions: type.entriesOf('options such as 25:buys tools|100:pays a mason', {
    amount: { type: type.wholeAmount },
    description: { type: type.text, optional: true },
  }),
}

type InFiles<N extends Noun> = {
  readonly [Name in keyof N]: N[Name] extends { readonly only: 'wire' } | { readonly by: 'service' } ? never : Name
}[keyof N]

type FileName<F, Name> = F extends { readonly file: { readonly name: infer Given } }
  ? Given
  : F extends { readonly name: infer Given }
    ? Given
    : Name

/** The fields of a kind whose rows are records of a noun. */
export type FieldsInFiles<N extends Noun> = {
  readonly [Name in InFiles<N> as FileName<N[Name], Name> & string]: Omit<KindField, 'type' | 'required'> & {
    readonly type: type.FieldType<FieldKinds[KindOf<N[Name]>]>
    readonly required: N[Name] extends { readonly file: { readonly required: true } } ? true : false
  }
}

type Table = NumberedTable | ClearedColumns['table'] | undefined

/** The fields of a noun as files state them; `table`: where its records are numbered, or emptied. */
export function fieldsInFiles<N extends Noun>(noun: N, table?: Table): FieldsInFiles<N> {
  const stated = fileFieldsOf(noun)
  const onWire = new Set(stated.some(({ wire }) => wire) ? wireFieldsOf(noun).map(({ field }) => field) : [])
  const inLanguages = new Map(
    stated.flatMap((one) => (one.inLanguages ? [[fileNameOf(one), types[kindOf(one)] ?? type.text]] : [])),
  )
  return Object.fromEntries(
    stated.map((one) => {
      const field = toField(table, one, onWire.has(one.field))
      return [fileNameOf(one), kindOf(one) === 'texts' ? { ...field, type: type.textsOf(inLanguages) } : field]
    }),
  ) as FieldsInFiles<N> & KindFields
}

function toField(table: Table, one: NamedField, isOnWire: boolean): KindField {
  const { file, by, means = '', private: isPrivate, unit, examples = ['', ''], day, description } = one
  const kind = kindOf(one)
  const isKept = by === 'iati' || file?.kept === true
  const cleared = isKept && kind !== 'externalId' ? emptied(table as ClearedColumns['table'], one) : undefined
  const iati = description === undefined ? one.iati : `description type ${description}`
  const api = one.api ?? (isOnWire ? wireNameOf(one) : undefined)
  return {
    type: types[kind] ?? type.text,
    ...(file?.required && { required: true }),
    ...(kind === 'id' && { numbers: table as NumberedTable }),
    ...(isKept && { kept: true }),
    ...(cleared && { cleared }),
    ...(day && { day }),
    means: isPrivate ? `${means}; never in feeds.` : means,
    ...(unit && { unit }),
    examples,
    ...(api && { api }),
    ...(iati && { iati }),
  }
}

/** How a value that is kept is emptied; undefined: it always has one. */
function emptied(table: ClearedColumns['table'], one: NamedField): KindField['cleared'] {
  if (one.part) return 'empty list'
  return one.kind.endsWith('?') ? { table, columns: [columnOf(one)] } : undefined
}

type Required = { readonly file: { readonly required: true } }

type StatedIn<N extends Noun, All = FieldsOf<N, 'record'>> = {
  readonly [Name in keyof All & keyof N as N[Name] extends Required ? Name : never]: All[Name]
} & {
  readonly [Name in keyof All & keyof N as N[Name] extends Required ? never : Name]?: All[Name] | undefined
}

/** What a row of a file says of the noun: the values of its columns that records state, each under the field's own name. */
export function statedIn<N extends Noun>(noun: N, row: object): StatedIn<N> {
  const values = row as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    columnFields(noun, ['record']).flatMap((one) => {
      const value = one.only === 'wire' ? undefined : values[fileNameOf(one)]
      return value === undefined ? [] : [[one.field, value]]
    }),
  ) as StatedIn<N>
}
