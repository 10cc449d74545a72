import { timingSafeEqual } from 'node:crypto'
import type { DonorVault } from '../donors/donor-vault.js'

// As many characters as a token has, which no log shows.
const form = /^([0-9a-z]{8})([0-9a-f]{32})$/

/** The last part of the address at which a donor ends a plan; who has it may do that. */
export function planLink(donors: DonorVault, plan: { readonly id: number; readonly reference: string }): string {
  return plan.id.toString(36).padStart(8, '0') + proofsOf(donors, plan)[0]
}

/** The plan that such a text names; whether it may be ended is told by `provesPlan`. */
export function planOfLink(link: string): number | undefined {
  const [, id] = form.exec(link) ?? []
  return id === undefined ? undefined : Number.parseInt(id, 36)
}

/** Whether this is the link of this plan, also one from before a change of keys. */
export function provesPlan(
  donors: DonorVault,
  plan: { readonly id: number; readonly reference: string },
  link: string,
): boolean {
  const given = Buffer.from(form.exec(link)?.[2] ?? '')
  return proofsOf(donors, plan).some((proof) => {
    const expected = Buffer.from(proof)
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}

function proofsOf(donors: DonorVault, { id, reference }: { readonly id: number; readonly reference: string }) {
  return donors.references('plan link', String(id), reference)
}
