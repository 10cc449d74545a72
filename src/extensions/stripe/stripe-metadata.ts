import { parseDecimal, signOf } from '../../kernel/money.js'
import type { ChargeNotes } from '../../money/gateways/charge-notes.js'

/** What a PaymentIntent carries of its donation. */
export function toStripeMetadata(reference: string, notes: ChargeNotes | undefined): Record<string, string> {
  if (!notes) return { reference }
  const { projectId, addon, refcode } = notes
  return {
    ...{ reference, project: String(projectId) },
    ...(signOf(addon) > 0 && { addon }),
    ...(refcode !== undefined && { refcode }),
  }
}

/** The notes in a PaymentIntent's metadata; undefined: it has none that can be read. */
export function fromStripeMetadata(metadata: Readonly<Record<string, string>>): ChargeNotes | undefined {
  const { project = '', addon: tip = '0', refcode } = metadata
  const addon = parseDecimal(tip)
  if (!/^\d{1,15}$/.test(project) || addon === undefined) return undefined
  return { projectId: Number(project), addon, ...(refcode !== undefined && { refcode }) }
}
