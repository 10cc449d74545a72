import { type Decimal, fromMinorUnits, splitByLargestRemainder, toMinorUnits } from '../../kernel/money.js'
import type { ProjectCountry, ProjectGraph } from '../../kernel/project.js'
import { type Element, element, textElement } from '../../kernel/xml/element.js'
import { isActiveCode } from '../standard/index.js'
import type { MappingContext } from './mapping-context.js'
import { coded, narrated } from './narrative.js'

/** 100 per cent in units of 0.01. */
const whole = 10_000n

/**
 * Shares in per cent with two decimals that sum to exactly 100 (rules 3.4.x, 2.1.x), by largest remainder over the
 * weights; ties go to the earlier one.
 */
export function percentages(weights: readonly bigint[]): Decimal[] {
  return splitByLargestRemainder(whole, weights).map((units) => fromMinorUnits(units, 2))
}

/** The countries that IATI knows, by code; the others are reported as notices. */
export function usableCountries(graph: ProjectGraph, context: MappingContext): ProjectCountry[] {
  return graph.countries
    .filter((country) => {
      const known = isActiveCode('Country', country.code)
      if (!known) context.notice('country-unknown', 'countries', `expected an ISO 3166-1 code, got ${country.code}`)
      return known
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** `activity-scope`: 1 global, 3 several countries, 8 one place that is named, else 4 national. */
export function activityScope({ project }: ProjectGraph, countries: readonly ProjectCountry[]): Element {
  const named = project.locationName !== undefined && project.locationPrecision === 'point'
  return coded('activity-scope', countries.length === 0 ? '1' : countries.length > 1 ? '3' : named ? '8' : '4')
}

/**
 * `recipient-country`, always at activity level (rule 3.7.x), with shares when there are several; worldwide region 998
 * when no country is known.
 */
export function recipients(countries: readonly ProjectCountry[], context: MappingContext): Element[] {
  if (countries.length === 0) {
    context.notice('recipient-unknown', 'countries', 'expected at least one country, got none')
    return [element('recipient-region', { code: context.assume('region'), vocabulary: '1' })]
  }
  if (countries.length === 1) return countries.map((country) => coded('recipient-country', country.code))
  const split = countries.every((country) => country.share !== undefined)
  if (!split) context.assume('country-shares')
  const weights = countries.map((country) => (split && country.share ? toMinorUnits(country.share, 4) : 1n))
  const shares = percentages(weights)
  return countries.flatMap((country, index) => {
    const percentage = shares[index] ?? '0.00'
    // A share that rounds to 0.00 is left out.
    return percentage === '0.00' ? [] : [coded('recipient-country', country.code, { percentage })]
  })
}

/** `location` [0..1]: an approximate point, unless only the country may be known. */
export function location({ project }: ProjectGraph, context: MappingContext): Element | undefined {
  const { latitude, longitude } = project
  if (project.locationPrecision === 'country' || (latitude === undefined && longitude === undefined)) return undefined
  const zero = [latitude, longitude].every((value) => value !== undefined && !/[1-9]/.test(value))
  if (latitude === undefined || longitude === undefined || zero) {
    const got = `${latitude ?? 'nothing'}, ${longitude ?? 'nothing'}`
    context.notice('location-unusable', 'latitude', `expected latitude and longitude, got ${got}`)
    return undefined
  }
  const coordinate = (value: Decimal) => trimZeros(fromMinorUnits(toMinorUnits(value, 5), 5))
  const name = narrated('name', [[context.language, project.locationName ?? '']], context.language)
  return element('location', undefined, [
    coded('location-reach', '1'),
    name,
    element('point', { srsName: 'http://www.opengis.net/def/crs/EPSG/0/4326' }, [
      textElement('pos', `${coordinate(latitude)} ${coordinate(longitude)}`),
    ]),
    codeIfAny('exactness', context.codeOf('location-exactness')),
    // A named place is a populated place; the class of a bare point is unknown.
    name && codeIfAny('location-class', context.codeOf('location-class')),
  ])
}

function codeIfAny(name: string, code: string | undefined): Element | undefined {
  return code === undefined ? undefined : coded(name, code)
}

function trimZeros(value: Decimal): string {
  return value.replace(/\.?0+$/, '')
}
