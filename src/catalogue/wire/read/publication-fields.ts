import { isActiveCode } from '../../../iati/standard/index.js'
import { parseIsoDate } from '../../../kernel/dates.js'
import { signOf } from '../../../kernel/money.js'
import type { OrganisationPublication, ProjectPublication } from '../../../kernel/record.js'
import { isObject, type ParsedValue } from './parsed-value.js'
import type { RecordReader } from './record-reader.js'

const glideNumber = /^[A-Z]{2}-\d{4}-\d{6}-[A-Z]{3}$/

/**
 * Reads the element `iati` of a project record, this service's addition to the wire format: what publishing needs
 * beyond it. Fields that are left out keep their value in the store; a wrong value refuses the record.
 */
export function readProjectPublication(iati: RecordReader): ProjectPublication {
  const deadline = checkedText(iati, 'deadline', 'a day such as 2027-06-30', parseIsoDate)
  const glide = checkedText(iati, 'glideNumber', 'a GLIDE number such as FL-2026-000123-SLE', (text) =>
    glideNumber.test(text) ? text : undefined,
  )
  const locationPrecision = checkedText(iati, 'locationPrecision', 'point or country', (text) =>
    text === 'point' || text === 'country' ? text : undefined,
  )
  const locationName = iati.text('locationName')?.trim()
  const sdgs = readSdgs(iati)
  const payouts = readPayouts(iati)
  return {
    ...(deadline && { deadline }),
    ...(glide && { glideNumber: glide }),
    ...(locationPrecision && { locationPrecision }),
    ...(locationName && { locationName }),
    ...(sdgs && { sdgs }),
    ...(payouts && { payouts }),
  }
}

/** Reads the element `iati` of an organisation: its IATI identifier and type. */
export function readOrganisationPublication(iati: RecordReader): OrganisationPublication {
  const ref = iati.text('ref')?.trim()
  const type = checkedText(iati, 'type', 'a code of the IATI OrganisationType list', (text) =>
    isActiveCode('OrganisationType', text) ? text : undefined,
  )
  return { ...(ref !== undefined && { ref }), ...(type !== undefined && { type }) }
}

/** The parsed value of a text that may be absent or blank. */
function checkedText<T>(
  iati: RecordReader,
  name: string,
  expected: string,
  parse: (text: string) => T | undefined,
): T | undefined {
  return iati.text(name) === undefined ? undefined : iati.parsed(name, expected, parse)
}

function readSdgs(iati: RecordReader): string[] | undefined {
  const value = iati.value('sdgs')
  if (value === undefined) return undefined
  const inner: ParsedValue | undefined = isObject(value) ? value.sdg : value
  const codes = (Array.isArray(inner) ? inner : [inner]).filter((code) => code !== undefined && code !== '')
  return [...new Set(codes.flatMap((code) => toSdg(code, iati)))].sort()
}

function toSdg(value: ParsedValue | undefined, iati: RecordReader): string[] {
  const code = typeof value === 'string' ? value.trim() : ''
  if (isActiveCode(code.includes('.') ? 'UNSDG-Targets' : 'UNSDG-Goals', code)) return [code]
  iati.refuse('sdgs/sdg', 'a goal such as 6 or a target such as 6.1', value)
  return []
}

function readPayouts(iati: RecordReader): ProjectPublication['payouts'] {
  if (iati.value('payouts') === undefined) return undefined
  const payouts = iati.parts('payouts', 'payout').map((payout) => {
    const plannedOn = payout.required('day', 'a day such as 2027-06-30', parseIsoDate, '')
    const amount = payout.requiredMoney('amount')
    if (signOf(amount) <= 0) payout.refuse('amount', 'more than 0', payout.value('amount'))
    return { reference: payout.requiredText('reference').trim(), plannedOn, amount }
  })
  const references = new Set(payouts.map(({ reference }) => reference))
  if (references.size < payouts.length) iati.refuse('payouts', 'payouts of different references')
  return payouts
}
