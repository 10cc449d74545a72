/** What the sandbox gateway does with a nonce or a saved token. */
export type Scenario =
  | { readonly kind: 'approved' }
  | { readonly kind: 'declined'; readonly code: number }
  | { readonly kind: 'silent-before' }
  | { readonly kind: 'silent-after' }
  | { readonly kind: 'down' }
  | { readonly kind: 'slow' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'asks' }
  | { readonly kind: 'debit'; readonly code?: number }

/** Time that a slow charge takes, in milliseconds. */
export const slowMs = 1500

/** How long a debit is pending. */
export const debitDays = 5

/**
 * The documented nonces (they serve as saved tokens too); `docs/reference/payments.md` lists the same ones.
 * The names are those of the processor's own test nonces where it has one.
 * @internal for the test that compares the lists
 */
export const sandboxNonces: Readonly<Record<string, { readonly scenario: Scenario; readonly meaning: string }>> = {
  'fake-valid-nonce': { scenario: { kind: 'approved' }, meaning: 'approved' },
  'fake-processor-declined-visa-nonce': { scenario: { kind: 'declined', code: 2000 }, meaning: 'declined with 2000' },
  'fake-processor-declined-mastercard-nonce': {
    scenario: { kind: 'declined', code: 2000 },
    meaning: 'declined with 2000',
  },
  'fake-gateway-rejected-fraud-nonce': { scenario: { kind: 'declined', code: 2014 }, meaning: 'declined with 2014' },
  'fake-declined-{code}-nonce': {
    scenario: { kind: 'declined', code: 0 },
    meaning: 'declined with the code, such as fake-declined-2004-nonce',
  },
  'fake-timeout-before-nonce': {
    scenario: { kind: 'silent-before' },
    meaning: 'no answer before the time-out, and nothing is charged',
  },
  'fake-timeout-after-nonce': {
    scenario: { kind: 'silent-after' },
    meaning: 'charged at once, but no answer before the time-out',
  },
  'fake-down-nonce': { scenario: { kind: 'down' }, meaning: 'the gateway cannot be reached' },
  'fake-confirm-nonce': {
    scenario: { kind: 'asks' },
    meaning: 'waits until the donor confirms it on the page that `requires_action` names',
  },
  'fake-debit-nonce': { scenario: { kind: 'debit' }, meaning: `a debit: pending for ${debitDays} days, then paid` },
  'fake-debit-returned-nonce': {
    scenario: { kind: 'debit', code: 2001 },
    meaning: `a debit: pending for ${debitDays} days, then declined with 2001`,
  },
  'fake-slow-nonce': { scenario: { kind: 'slow' }, meaning: `approved after ${slowMs} ms` },
}

const declinedNonce = /^fake-declined-(\d{4})-nonce$/
const approvedNonce = /^fake-valid-[a-z-]{0,60}nonce$/

/**
 * What the sandbox does with a payment, decided by the nonce; for an approved nonce by the amount too: whole amounts from
 * 2000 to 2999 are declined with that code, and 3000 with 3000, as in the processor's own sandbox.
 */
export function scenarioOf(nonce: string, amount: string): Scenario {
  const [, code] = declinedNonce.exec(nonce) ?? []
  if (code !== undefined) return { kind: 'declined', code: Number(code) }
  const documented = Object.hasOwn(sandboxNonces, nonce) ? sandboxNonces[nonce]?.scenario : undefined
  const scenario = documented ?? (approvedNonce.test(nonce) ? ({ kind: 'approved' } as const) : undefined)
  if (scenario?.kind === 'approved') return scenarioOfAmount(amount)
  return scenario ?? { kind: 'unknown' }
}

/** What the amount alone decides. */
export function scenarioOfAmount(amount: string): Scenario {
  const whole = Number(amount.split('.')[0])
  return whole >= 2000 && whole <= 3000 ? { kind: 'declined', code: whole } : { kind: 'approved' }
}
