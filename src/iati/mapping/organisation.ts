import { type IsoDate, parseIsoDate } from '../../kernel/dates.js'
import { type Decimal, minorUnitExponent, toMinorUnits } from '../../kernel/money.js'
import type { InLanguages } from '../../kernel/texts.js'
import { type Element, element, textElement } from '../../kernel/xml/element.js'
import { absoluteUrl } from '../absolute-url.js'
import type { MappingConfig } from './mapping-config.js'
import { coded, narrated, narratives, type Text } from './narrative.js'
import { organisationName, organisationRef } from './organisations.js'
import { type Sentence, sentence } from './sentences.js'
import { periodElements, valueElement } from './values.js'

/** Payouts agreed on for days to come in a calendar year, in the platform's currency. */
export type PlannedYear = { readonly year: number; readonly planned: Decimal }

/** Money of one calendar year in the platform's currency. */
export type YearFigures = PlannedYear & {
  /** Paid out to partners. */
  readonly paid: Decimal
  /** Platform and payment fees kept. */
  readonly fees: Decimal
}

export type Partner = InLanguages & {
  readonly name: string
  readonly ein?: string
  readonly orgRef?: string
  readonly url?: string
}

/** The years in the organisation file: spending of the last three, plans of this and the next two. */
export function yearsOfFile(day: IsoDate): { readonly first: number; readonly current: number; readonly last: number } {
  const current = Number(day.slice(0, 4))
  return { first: current - 3, current, last: current + 2 }
}

/**
 * The publisher's own `iati-organisation` (iati.md 12.1), without `last-updated-datetime` and without the
 * `recipient-org-budget`s, which are streamed into it before `total-expenditure`: there are as many as partners.
 */
export function toOrganisation(config: MappingConfig, figures: readonly YearFigures[], day: IsoDate): Element {
  const { language } = config
  const { ref, name, type } = config.reportingOrg
  const { current } = yearsOfFile(day)
  return element('iati-organisation', head(config), [
    textElement('organisation-identifier', ref),
    narrated('name', [[language, name]], language),
    element('reporting-org', { ref, type, 'secondary-reporter': '0' }, narratives([[language, name]], language)),
    ...figures.filter(({ year }) => year >= current).map((figure) => totalBudget(figure, config)),
    ...figures.filter(({ year }) => year < current).map((figure) => totalExpenditure(figure, config)),
    page(`${config.baseUrl}/`, [sentence(language, 'openData', name)], 'B16', config, true),
    page(`${config.baseUrl}/#exclusions`, [sentence(language, 'exclusions', name)], 'B08', config, true),
  ])
}

function head({ language, currency }: MappingConfig): Record<string, string> {
  return { 'xml:lang': language, 'default-currency': currency }
}

function totalBudget({ year, paid, planned }: YearFigures, config: MappingConfig): Element | undefined {
  const units = unitsOf(paid, config) + unitsOf(planned, config)
  if (units <= 0n) return undefined
  return element('total-budget', { status: '1' }, [
    ...period(year),
    value(units, year, config),
    element('budget-line', undefined, [value(units, year, config), ...inWords('payoutsPlanned', config)]),
  ])
}

function totalExpenditure({ year, paid, fees }: YearFigures, config: MappingConfig): Element | undefined {
  const lines = [
    { units: unitsOf(paid, config), words: 'payouts' as const },
    { units: unitsOf(fees, config), words: 'feesOfYear' as const },
  ].filter(({ units }) => units !== 0n)
  if (lines.length === 0) return undefined
  const total = lines.reduce((sum, { units }) => sum + units, 0n)
  return element('total-expenditure', undefined, [
    ...period(year),
    value(total, year, config),
    ...lines.map(({ units, words }) =>
      element('expense-line', undefined, [value(units, year, config), ...inWords(words, config)]),
    ),
  ])
}

/** `recipient-org-budget`: payouts planned for a partner; undefined without a usable identifier. */
export function recipientOrgBudget(
  partner: Partner,
  { year, planned }: PlannedYear,
  config: MappingConfig,
): Element | undefined {
  const ref = organisationRef(partner, config.reportingOrg.ref)
  const name = narratives(organisationName(partner, config), config.language)
  const units = unitsOf(planned, config)
  if (!ref || name.length === 0 || units <= 0n) return undefined
  return element('recipient-org-budget', { status: '1' }, [
    element('recipient-org', { ref }, name),
    ...period(year),
    value(units, year, config),
  ])
}

/** A partner as `iati-organisation` (iati.md 12.2); undefined for the platform itself and without an identifier. */
export function toPartnerOrganisation(partner: Partner, config: MappingConfig): Element | undefined {
  const identifier = organisationRef(partner, config.reportingOrg.ref)
  const names = organisationName(partner, config)
  const partnerName = narrated('name', names, config.language)
  if (!identifier || identifier === config.reportingOrg.ref || !partnerName) return undefined
  const url = partner.url === undefined ? undefined : absoluteUrl(partner.url)
  return secondaryRecord(
    identifier,
    config,
    partnerName,
    url === undefined ? undefined : page(url, names, 'B16', config),
  )
}

/** A record of another organisation, of which nothing but its identifier is known. */
export function secondaryRecord(identifier: string, config: MappingConfig, name?: Element, link?: Element): Element {
  const { ref, name: own, type } = config.reportingOrg
  return element('iati-organisation', head(config), [
    textElement('organisation-identifier', identifier),
    name,
    element(
      'reporting-org',
      { ref, type, 'secondary-reporter': '1' },
      narratives([[config.language, own]], config.language),
    ),
    link,
  ])
}

/** A sentence in the publisher's language. */
function inWords(key: Sentence, { language }: MappingConfig): Element[] {
  return narratives([sentence(language, key)], language)
}

function page(url: string, title: Text, category: string, { language }: MappingConfig, isOurs = false): Element {
  return element('document-link', { url, format: 'text/html' }, [
    narrated('title', title, language),
    coded('category', category),
    isOurs ? coded('language', language) : undefined,
  ])
}

function period(year: number): Element[] {
  return periodElements(dayOf(year, '01-01'), dayOf(year, '12-31'))
}

function value(units: bigint, year: number, { currency }: MappingConfig): Element {
  return valueElement(units, currency, dayOf(year, '01-01'))
}

function dayOf(year: number, rest: string): IsoDate {
  const day = parseIsoDate(`${year}-${rest}`)
  if (day === undefined) throw new RangeError(`expected a year of four digits, got ${year}`)
  return day
}

function unitsOf(amount: Decimal, { currency }: MappingConfig): bigint {
  return toMinorUnits(amount, minorUnitExponent(currency))
}
