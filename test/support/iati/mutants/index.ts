import { blindSpotMutants } from './blind-spots.js'
import { dateMutants } from './dates.js'
import { identifierMutants } from './identifiers.js'
import { moneyMutants } from './money.js'
import type { Mutant } from './mutant.js'
import { resultMutants } from './results.js'
import { shareMutants } from './shares.js'
import { textMutants } from './texts.js'

export { aFullActivity, aFullOrganisation } from './full-records.js'
export { type Mutant, mutantsDay } from './mutant.js'
export { blindSpotMutants }

/** At least one mutant for every rule of the official ruleset that is about a record. */
export const ruleMutants: readonly Mutant[] = [
  ...identifierMutants,
  ...textMutants,
  ...dateMutants,
  ...resultMutants,
  ...shareMutants,
  ...moneyMutants,
]
