import { isActiveCode } from '../../../iati/standard/index.js'
import { signOf } from '../../../kernel/money.js'
import { columnFields, kindOf, type Noun, namedFields, wireNameOf } from '../../../kernel/nouns/field.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import type { OrganisationPublication, ProjectPublication } from '../../../kernel/record.js'
import { type OtherTexts, textKey } from '../../../kernel/texts.js'
import { textLike, type ValueType, valueTypes, wordOf } from '../../../kernel/values.js'
import { isObject, type ParsedValue } from './parsed-value.js'
import type { RecordReader } from './record-reader.js'

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

/**
 * Reads the element `iati` of a project record, this service's addition to the wire format: what publishing needs
 * beyond it. Fields that are left out keep their value in the store; a wrong value refuses the record.
 */
export function readProjectPublication(iati: RecordReader): ProjectPublication {
  const fields = stated.flatMap((one) => {
    const type = kinds[kindOf(one)]
    const value = type ? checkedText(iati, one.field, type) : iati.text(one.field)?.trim()
    return value ? [[one.field, value] as const] : []
  })
  const sdgs = readSdgs(iati)
  const payouts = readPayouts(iati)
  const texts = readTexts(iati, projectFields)
  return {
    ...Object.fromEntries(fields),
    ...(sdgs && { sdgs }),
    ...(payouts && { payouts }),
    ...(texts && { texts }),
  }
}

/** Reads the element `iati` of an organisation: its IATI identifier and type. */
export function readOrganisationPublication(iati: RecordReader): OrganisationPublication {
  const ref = iati.text('ref')?.trim()
  const type = checkedText(iati, 'type', organisationType)
  const language = checkedText(iati, 'language', languageCode)
  const texts = readTexts(iati, organisationFields)
  return {
    ...(ref !== undefined && { ref }),
    ...(type !== undefined && { type }),
    ...(language !== undefined && { language }),
    ...(texts && { texts }),
  }
}

/** The parsed value of a text that may be absent or blank. */
function checkedText<T>(iati: RecordReader, name: string, type: ValueType<T>): T | undefined {
  return iati.text(name) === undefined ? undefined : iati.parsed(name, type)
}

/** Texts in other languages: a list of objects with `field`, `language` and `value`. */
function readTexts(iati: RecordReader, noun: Noun): OtherTexts | undefined {
  if (iati.value('texts') === undefined) return undefined
  const fields = namedFields(noun).flatMap((one) => (one.inLanguages ? [wireNameOf(one)] : []))
  const field = { ...wordOf(...fields), expected: `one of ${fields.join(', ')}` }
  return Object.fromEntries(
    iati.parts('texts', 'text').map((one) => {
      const key = textKey(one.required('field', field, ''), one.required('language', languageCode, ''))
      return [key, one.textOrEmpty('value') ?? '']
    }),
  )
}

function readSdgs(iati: RecordReader): string[] | undefined {
  const value = iati.value('sdgs')
  if (value === undefined) return undefined
  const inner: ParsedValue | undefined = isObject(value) ? value.sdg : value
  const codes = (Array.isArray(inner) ? inner : [inner]).filter((code) => code !== undefined && code !== '')
  return [...new Set(codes.flatMap((code) => toSdg(code, iati)))].sort()
}

function toSdg(value: ParsedValue | undefined, iati: RecordReader): string[] {
  const code = typeof value === 'string' ? sdgCode.parse(value.trim()) : undefined
  if (code === undefined) iati.refuse('sdgs/sdg', sdgCode.expected, value)
  return code === undefined ? [] : [code]
}

function readPayouts(iati: RecordReader): ProjectPublication['payouts'] {
  if (iati.value('payouts') === undefined) return undefined
  const payouts = iati.parts('payouts', 'payout').map((payout) => {
    const plannedOn = payout.required('day', day, '')
    const amount = payout.requiredMoney('amount')
    if (signOf(amount) <= 0) payout.refuse('amount', 'more than 0', payout.value('amount'))
    return { reference: payout.requiredText('reference').trim(), plannedOn, amount }
  })
  const references = new Set(payouts.map(({ reference }) => reference))
  if (references.size < payouts.length) iati.refuse('payouts', 'payouts of different references')
  return payouts
}
