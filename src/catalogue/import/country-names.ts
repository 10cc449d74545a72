import { codeName } from '../../iati/standard/index.js'

/** The English name of a country of ISO 3166-1, without the article that the list puts behind some names. */
export function countryNameOf(code: string): string {
  return (codeName('Country', code) ?? code).replace(/ \(the\)$/, '')
}
