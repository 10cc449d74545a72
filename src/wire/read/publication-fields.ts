import { parseIsoDate } from '../../domain/dates.js'
import type { FieldProblem } from '../../domain/errors.js'
import { signOf } from '../../domain/money.js'
import type { OrganisationPublication, ProjectPublication } from '../../domain/record.js'
import { isActiveCode } from '../../standard/index.js'
import { FieldReader, isObject } from './record-fields.js'
import type { WireValue } from './wire-value.js'

const glideNumber = /^[A-Z]{2}-\d{4}-\d{6}-[A-Z]{3}$/

/**
 * The element `iati` that a record for import may have, ours and not of the wire format: what publishing needs and the
 * wire format cannot tell. What it leaves out stays as it is in the store; a wrong value refuses the record.
 */
export function readProjectPublication(project: FieldReader, problems: FieldProblem[]): ProjectPublication | undefined {
  const object = project.object('iati')
  if (object === undefined) return undefined
  const fields = new FieldReader(object, 'iati/', problems)
  const checked = <T>(name: string, expected: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = fields.text(name)?.trim()
    const value = text === undefined ? undefined : parse(text)
    if (text !== undefined && value === undefined) fields.refuse(name, expected, text)
    return value
  }
  const deadline = checked('deadline', 'a day such as 2027-06-30', parseIsoDate)
  const glide = checked('glideNumber', 'a GLIDE number such as FL-2026-000123-SLE', (text) =>
    glideNumber.test(text) ? text : undefined,
  )
  const precision = checked('locationPrecision', 'point or country', (text) =>
    text === 'point' || text === 'country' ? text : undefined,
  )
  const locationName = fields.text('locationName')?.trim()
  const sdgs = readSdgs(fields)
  const payouts = readPayouts(fields, problems)
  return {
    ...(deadline && { deadline }),
    ...(glide && { glideNumber: glide }),
    ...(precision && { locationPrecision: precision }),
    ...(locationName && { locationName }),
    ...(sdgs && { sdgs }),
    ...(payouts && { payouts }),
  }
}

/** The element `iati` of an organisation: the identifier and type that IATI knows it by. */
export function readOrganisationPublication(
  organisation: FieldReader,
  problems: FieldProblem[],
): OrganisationPublication | undefined {
  const object = organisation.object('iati')
  if (object === undefined) return undefined
  const fields = new FieldReader(object, 'organization/iati/', problems)
  const ref = fields.text('ref')?.trim()
  const type = fields.text('type')?.trim()
  if (type !== undefined && !isActiveCode('OrganisationType', type)) {
    fields.refuse('type', 'a code of the IATI OrganisationType list', type)
  }
  return { ...(ref !== undefined && { ref }), ...(type !== undefined && { type }) }
}

function readSdgs(fields: FieldReader): string[] | undefined {
  const value = fields.value('sdgs')
  if (value === undefined) return undefined
  const inner: WireValue | undefined = isObject(value) ? value.sdg : value
  const codes = (Array.isArray(inner) ? inner : [inner]).filter((code) => code !== undefined && code !== '')
  return [...new Set(codes.flatMap((code) => toSdg(code, fields)))].sort()
}

function toSdg(value: WireValue | undefined, fields: FieldReader): string[] {
  const code = typeof value === 'string' ? value.trim() : ''
  if (isActiveCode(code.includes('.') ? 'UNSDG-Targets' : 'UNSDG-Goals', code)) return [code]
  fields.refuse('sdgs/sdg', 'a goal such as 6 or a target such as 6.1', value)
  return []
}

function readPayouts(fields: FieldReader, problems: FieldProblem[]): ProjectPublication['payouts'] {
  if (fields.value('payouts') === undefined) return undefined
  const payouts = fields.list('payouts', 'payout').map((object) => {
    const payout = new FieldReader(object, 'iati/payouts/', problems)
    const plannedOn = parseIsoDate(payout.requiredText('day').trim())
    if (plannedOn === undefined) payout.refuse('day', 'a day such as 2027-06-30', object.day)
    const amount = payout.requiredMoney('amount')
    if (signOf(amount) <= 0) payout.refuse('amount', 'more than 0', object.amount)
    return { reference: payout.requiredText('reference').trim(), plannedOn: plannedOn ?? '', amount }
  })
  const references = new Set(payouts.map(({ reference }) => reference))
  if (references.size < payouts.length) fields.refuse('payouts', 'payouts of different references')
  return payouts
}
