import type { Donor } from '../../kernel/donor.js'
import { toServiceError } from '../../kernel/errors.js'
import { type CurrencyCode, type Decimal, fromMinorUnits, toMinorUnits } from '../../kernel/money.js'
import type { Store } from '../../platform/database/store.js'
import type { Mailed, Mailing } from '../../platform/mail/mailing.js'
import type { MailMessage, SendOutcome } from '../../platform/mail/smtp.js'
import type { DonorVault } from '../donors/donor-vault.js'
import { listDonors, type StoredDonor } from '../sql/donors.js'
import type { MailOutcome } from '../sql/receipt-mails.js'

export type DonorMailing = Mailing & { readonly store: Store; readonly donors: DonorVault }

/** Mail of one kind that is claimed one by one. */
export type MailQueue<Due> = {
  /** One of it, in words for the log. */
  readonly what: string
  claim(now: Date): Promise<Due | undefined>
  /** What the log names it by. */
  named(due: Due): Readonly<Record<string, number>>
  /** Who gets it, as stored; undefined: nobody any more. */
  recipient(due: Due): Promise<StoredDonor | undefined>
  record(due: Due, outcome: MailOutcome): Promise<void>
  /** The message; undefined: it is not wanted any more. */
  compose(due: Due, person: Donor): Promise<Omit<MailMessage, 'to'> | undefined>
}

const mostTries = 14
const longestWaitMs = 6 * 3_600_000

/**
 * Mails what is due. Each message is marked before it is handed to the server, so that a process that dies in between
 * leaves one that may have been sent, never one that is sent twice. One that was certainly not accepted is tried again, after
 * a minute at first and six hours at last, 14 times in two days and a half. After one that may have been sent nothing more
 * is handed to the server until the next call: a server that breaks off while it takes mail would leave all in doubt.
 */
export async function mailQueue<Due extends { readonly tries: number }>(
  mailing: DonorMailing,
  queue: MailQueue<Due>,
  signal: AbortSignal,
): Promise<Mailed> {
  const { clock } = mailing
  const { what } = queue
  const mailed = { sent: 0, later: 0, ended: 0 }
  while (!signal.aborted) {
    const claimedAt = clock()
    const due = await queue.claim(claimedAt)
    if (!due) break
    const named = queue.named(due)
    const outcome = await mailOne(mailing, queue, due, signal).catch((error: unknown): SendOutcome => {
      const { code } = toServiceError(error)
      mailing.warn({ ...named, code }, `${what} could not be written`)
      return { kind: 'not-sent' }
    })
    const at = clock()
    if (outcome.kind === 'sent') {
      mailed.sent += 1
      await queue.record(due, { state: 'sent', at, claimedAt })
    } else if (outcome.kind === 'not-sent' && due.tries < mostTries) {
      mailed.later += 1
      const waitMs = Math.min(60_000 * 2 ** (due.tries - 1), longestWaitMs)
      const nextAt = new Date(at.getTime() + waitMs)
      await queue.record(due, { state: 'due', at, claimedAt, nextAt, reply: outcome.code })
    } else {
      mailed.ended += 1
      const state = outcome.kind === 'not-sent' ? 'failed' : outcome.kind
      const reply = 'code' in outcome ? outcome.code : undefined
      await queue.record(due, { state, at, claimedAt, reply })
      if (outcome.kind !== 'dropped')
        mailing.warn({ ...named, state, reply }, `${what} was not mailed and will not be tried again`)
      if (state === 'unknown') break
    }
  }
  return mailed
}

async function mailOne<Due>(
  { donors, sender }: DonorMailing,
  queue: MailQueue<Due>,
  due: Due,
  signal: AbortSignal,
): Promise<SendOutcome | { readonly kind: 'dropped' }> {
  const row = await queue.recipient(due)
  if (!row) return { kind: 'dropped' }
  if (row.sealed && !donors.keyIds.includes(row.sealed.keyId)) return { kind: 'not-sent' }
  const donor = row.sealed ? donors.open(row.sealed, row.reference) : row.clear
  const message = await queue.compose(due, donor)
  if (!message) return { kind: 'dropped' }
  return await sender.send({ ...message, to: donor.email }, signal)
}

/** Of mail to the donor of a donation. */
export function toDonorOf({ store }: Pick<DonorMailing, 'store'>) {
  return {
    named: ({ donationId }: { readonly donationId: number }) => ({ donationId }),
    recipient: async ({ donationId }: { readonly donationId: number }) =>
      (await listDonors(store.db, [donationId])).get(donationId),
  }
}

/** How a donor is addressed. */
export function nameOf({ details }: Donor): string {
  return [details.firstname, details.lastname].filter((part) => part !== undefined).join(' ')
}

/** How money and days are written in a language. */
export function wordsIn(language: string) {
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  return {
    money: (value: Decimal, currency: CurrencyCode) =>
      new Intl.NumberFormat(language, { style: 'currency', currency }).format(value as unknown as number),
    day: (at: Date) => date.format(at),
  }
}

/** What is left of an amount. */
export function lessThan(amount: Decimal, less: Decimal): Decimal {
  return fromMinorUnits(toMinorUnits(amount, 4) - toMinorUnits(less, 4), 4)
}
