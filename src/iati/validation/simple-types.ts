import type { SimpleType } from '../standard/index.js'
import { isZone, parseDay } from './days.js'

const timePattern = /^(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|[+-](\d\d):(\d\d))?$/
const unzonedPattern = /^-?\d+-\d\d-\d\d$/
const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const integerPattern = /^[+-]?\d+$/
// XML 1.0 NameChar, as far as one UTF-16 unit goes; surrogates stand for the planes that the production allows.
const nameTokenPattern =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code units are meant
  /^[-.:\w\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u037D\u037F-\u1FFF\u200C\u200D\u203F\u2040\u2070-\u218F\u2C00-\u2FEF\u3001-\uDBFF\uDC00-\uDFFF\uF900-\uFDCF\uFDF0-\uFFFD]+$/
const languagePattern = /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$/
const untrimmed = /^[ \t\r\n]|[ \t\r\n]$|[ \t\r\n]{2}|[\t\r\n]/

const checks: Readonly<Record<SimpleType, (value: string) => boolean>> = {
  string: () => true,
  date: (value) => parseDay(value) !== undefined,
  dateTime: isDateTime,
  decimal: (value) => decimalPattern.test(value),
  boolean: (value) => value === '1' || value === '0' || value === 'true' || value === 'false',
  anyURI: isUriReference,
  int: (value) => isInteger(value, -2_147_483_648n, 2_147_483_647n),
  nonNegativeInteger: (value) => isInteger(value, 0n),
  positiveInteger: (value) => isInteger(value, 1n),
  NMTOKEN: (value) => nameTokenPattern.test(value),
  language: (value) => languagePattern.test(value),
}

/**
 * Whether the text is a value of the simple type (XML Schema part 2). White space around it is allowed, but not around
 * dates: libxml2, which the official validator runs on, refuses them.
 */
export function isOfType(type: SimpleType, text: string): boolean {
  if (type === 'string') return true
  // The declaration of xml:lang unites `language` with the empty text, in which white space counts.
  if (type === 'language' && text === '') return true
  if (type === 'date' || type === 'dateTime') return checks[type](text)
  return checks[type](untrimmed.test(text) ? collapse(text) : text)
}

// Years and ports of more than 31 bits, and characters that no XML may hold or that nobody compared.
const extraordinary = /[^ -~]|(?:^|[:-])\d{10}/

/** Whether libxml2 surely takes a text that {@link isOfType} takes, too. */
export function isOrdinary(type: SimpleType, text: string): boolean {
  return type === 'string' || !extraordinary.test(text)
}

/** The text with the white space that XML Schema ignores taken away. */
export function collapse(text: string): string {
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '')
}

function isDateTime(value: string): boolean {
  const day = dayPartOf(value)
  if (day === undefined) return false
  const match = timePattern.exec(value.slice(day.length + 1))
  if (!match || !unzonedPattern.test(day) || parseDay(day) === undefined) return false
  const [, hour = '', minute = '', second = '', fraction = '', zoneHour, zoneMinute] = match
  if (!isZone(zoneHour, zoneMinute)) return false
  if (hour === '24') return minute === '00' && second === '00' && /^(?:\.0+)?$/.test(fraction)
  return hour < '24' && minute < '60' && second < '60'
}

/** The part of an `xsd:dateTime` before its time. */
export function dayPartOf(dateTime: string): string | undefined {
  const at = dateTime.indexOf('T')
  return at < 0 ? undefined : dateTime.slice(0, at)
}

function isInteger(value: string, least: bigint, most?: bigint): boolean {
  if (!integerPattern.test(value)) return false
  const number = BigInt(value.replace('+', ''))
  return number >= least && (most === undefined || number <= most)
}

/**
 * XML Schema's `anyURI` takes nearly everything that can be escaped into a URI reference (RFC 3986); what is left wrong
 * is a bad percent escape, a second `#`, a scheme that is none, a bad authority, or a bracket outside an IP address.
 */
function isUriReference(value: string): boolean {
  if (/%(?![0-9a-fA-F]{2})/.test(value)) return false
  const fragment = value.indexOf('#')
  if (fragment >= 0 && value.includes('#', fragment + 1)) return false
  const beforeFragment = fragment < 0 ? value : value.slice(0, fragment)
  const [, scheme, authority, rest = ''] = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?(.*)$/s.exec(beforeFragment) ?? []
  if (scheme !== undefined && !/^[a-zA-Z][a-zA-Z0-9+.-]*$/.test(scheme)) return false
  if (/[[\]]/.test(rest)) return false
  return authority === undefined || /^(?:[^@[\]]*@)?(?:\[[^[\]]*\]|[^[\]:@]*)(?::\d+)?$/.test(authority)
}
