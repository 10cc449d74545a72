import type { Kind } from './kind.js'
import { disbursements } from './kinds/disbursements.js'
import { funders } from './kinds/funders.js'
import { gifts } from './kinds/gifts.js'
import { images } from './kinds/images.js'
import { organisations } from './kinds/organisations.js'
import { payoutPlans } from './kinds/payout-plans.js'
import { projects } from './kinds/projects.js'
import { reports } from './kinds/reports.js'
import { themes } from './kinds/themes.js'

/** Every kind, in the order in which an empty store takes them. */
export const kinds = [
  themes,
  organisations,
  funders,
  projects,
  images,
  reports,
  gifts,
  payoutPlans,
  disbursements,
] as const satisfies readonly Kind[]

/** The kind of this name. */
export function findKind(name: string): Kind | undefined {
  return kinds.find((kind) => kind.name === name)
}
