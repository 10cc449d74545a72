import { dateRules } from './dates.js'
import { geographyRules } from './geography.js'
import { identifierRules } from './identifiers.js'
import { moneyRules } from './money.js'
import { resultRules } from './results.js'
import type { Rule } from './rule.js'
import { sectorRules } from './sectors.js'
import { textRules } from './texts.js'

/**
 * Every rule beyond schema and code lists, for activities and organisations alike: a rule about elements that a record
 * does not have finds nothing.
 */
export const rules: readonly Rule[] = [
  ...identifierRules,
  ...textRules,
  ...dateRules,
  ...sectorRules,
  ...geographyRules,
  ...moneyRules,
  ...resultRules,
]
