import { isActiveCode } from '../../../iati/standard/index.js'
import { signOf } from '../../../kernel/money.js'
import { columnFields, kindOf, type Noun, namedFields, wireNameOf } from '../../../kernel/nouns/field.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import { isRecord, type MemberType, mapped, objectType, optional } from '../../../kernel/read-object.js'
import type { OrganisationPublication, ProjectPublication } from '../../../kernel/record.js'
import { type OtherTexts, textKey } from '../../../kernel/texts.js'
import { textLike, type ValueType, valueTypes, wordOf } from '../../../kernel/values.js'
import { checkedText, parsedType, recordTypes, trimmedText, wrapped } from './record-types.js'

const day = { ...valueTypes.day, expected: 'a day such as 2027-06-30' }

export const glideNumber = {
  expected: 'a GLIDE number such as FL-2026-000123-SLE',
  pattern: /^[A-Z]{2}-\d{4}-\d{6}-[A-Z]{3}$/,
}

/** A code of ISO 639-1; what stands behind it in a tag such as fr-CA is no language of IATI and is left out. */
export const languageCode: ValueType<string> = {
  expected: 'a language of ISO 639-1, such as fr',
  parse: (text) => {
    const code = /^([a-z]{2})(?:[-_][a-z0-9_-]+)?$/i.exec(text)?.[1]?.toLowerCase()
    return code !== undefined && isActiveCode('Language', code) ? code : undefined
  },
}

/** The types of the kinds of fields; other kinds are texts. */
const kinds: Readonly<Record<string, ValueType>> = {
  day,
  glideNumber: textLike(glideNumber.pattern, glideNumber.expected),
  language: languageCode,
  precision: { ...wordOf('point', 'country'), expected: 'point or country' },
}

const stated = columnFields(projectFields, ['iati']).filter((one) => one.only !== 'files' && kindOf(one) !== 'texts')

/** An active code of a list of IATI 2.03. */
export function codeOf(list: string, expected: string): ValueType<string> {
  return { expected, parse: (text) => (isActiveCode(list, text) ? text : undefined) }
}

const organisationType = codeOf('OrganisationType', 'a code of the IATI OrganisationType list')

/** A goal (6) or target (6.1) of the Sustainable Development Goals. */
export const sdgCode: ValueType<string> = {
  expected: 'a goal such as 6 or a target such as 6.1',
  parse: (text) => (isActiveCode(text.includes('.') ? 'UNSDG-Targets' : 'UNSDG-Goals', text) ? text : undefined),
}

function textsOf(noun: Noun) {
  const fields = namedFields(noun).flatMap((one) => (one.inLanguages ? [wireNameOf(one)] : []))
  const field = parsedType({ ...wordOf(...fields), expected: `one of ${fields.join(', ')}` })
  const list = wrapped('text', { field, language: parsedType(languageCode), value: recordTypes.textOrEmpty })
  /** Texts in other languages: a list of objects with `field`, `language` and `value`. */
  return optional(
    mapped(list, (texts): OtherTexts => {
      return Object.fromEntries(texts.map((one) => [textKey(one.field, one.language), one.value ?? '']))
    }),
  )
}

const sdgsType: MemberType<string[]> = {
  expected: 'a list',
  read: (value, place) => {
    const inner: unknown = isRecord(value) ? value.sdg : value
    const codes = (Array.isArray(inner) ? inner : [inner]).filter((code) => code !== undefined && code !== '')
    const read = codes.flatMap((code) => place.at('sdg').read(parsedType(sdgCode), code) ?? [])
    return [...new Set(read)].sort()
  },
}

const payoutAmount = mapped(recordTypes.money, (amount, place) => {
  if (signOf(amount) <= 0) place.refuse('more than 0', amount)
  return amount
})

const payoutsType = mapped(
  wrapped('payout', {
    day: parsedType(day),
    amount: payoutAmount,
    reference: mapped(recordTypes.requiredText, (reference) => reference.trim()),
  }),
  (payouts, place) => {
    if (new Set(payouts.map(({ reference }) => reference)).size < payouts.length) {
      place.refuse('payouts of different references', undefined)
    }
    return payouts.map(({ reference, day: plannedOn, amount }) => ({ reference, plannedOn, amount }))
  },
)

/**
 * Reads the element `iati` of a project record, this service's addition to the wire format: what publishing needs
 * beyond it. Fields that are left out keep their value in the store; a wrong value refuses the record.
 */
export const projectPublication: MemberType<ProjectPublication> = objectType({
  ...Object.fromEntries(stated.map((one) => [one.field, statedType(kinds[kindOf(one)])])),
  sdgs: optional(sdgsType),
  payouts: optional(payoutsType),
  texts: textsOf(projectFields),
})

function statedType(type: ValueType | undefined): MemberType {
  return type ? checkedText(type) : trimmedText
}

/** Reads the element `iati` of an organisation: its IATI identifier and type. */
export const organisationPublication: MemberType<OrganisationPublication> = objectType({
  ref: trimmedText,
  type: checkedText(organisationType),
  language: checkedText(languageCode),
  texts: textsOf(organisationFields),
})
