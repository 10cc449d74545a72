import { timingSafeEqual } from 'node:crypto'
import type { DonorVault } from './donor-vault.js'

/** What a donor has an address for: the page that ends a plan, the receipt of a donation. */
type LinkKind = 'plan' | 'receipt'

/** What it is of: a plan or a donation, with the reference of the donation or of the plan's first one. */
type Linked = { readonly id: number; readonly reference: string }

// As many characters as a token has, which no log shows.
const form = /^([0-9a-z]{8})([0-9a-f]{32})$/

/** The last part of an address for a donor alone; who has it may do what it is for. */
export function donorLink(donors: DonorVault, kind: LinkKind, linked: Linked): string {
  return linked.id.toString(36).padStart(8, '0') + proofsOf(donors, kind, linked)[0]
}

/** The number that such a text names; whether it may be used is told by `provesLink`. */
export function idInLink(link: string): number | undefined {
  const [, id] = form.exec(link) ?? []
  return id === undefined ? undefined : Number.parseInt(id, 36)
}

/** Whether this is the link of this plan or receipt, also one from before a change of keys. */
export function provesLink(donors: DonorVault, kind: LinkKind, linked: Linked, link: string): boolean {
  const given = Buffer.from(form.exec(link)?.[2] ?? '')
  return proofsOf(donors, kind, linked).some((proof) => {
    const expected = Buffer.from(proof)
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}

function proofsOf(donors: DonorVault, kind: LinkKind, { id, reference }: Linked) {
  return donors.references(`${kind} link`, String(id), reference)
}
