import type { Store } from '../platform/database/store.js'
import { loadTemplate, type TemplateChoice } from '../platform/mail/load-template.js'
import type { Mailed, Mailing } from '../platform/mail/mailing.js'
import { claimDueCode, type DueCode, dropCode, endMailing, newCode } from './sql/account-codes.js'

/** What the templates of account mail may name. */
const fields = ['platform', 'email', 'code', 'validUntil', 'address'] as const

/** The messages about accounts, and the operation that takes the code of each. */
const operations = {
  verification: 'accounts/verify',
  'password-reset': 'passwords/reset',
  'account-exists': 'passwords/forgotten',
} as const

type Message = keyof typeof operations

/** Ends with an error where a template about accounts cannot be used. Throws `configuration-invalid`. */
export async function checkAccountTemplates(choice: TemplateChoice): Promise<void> {
  for (const message of Object.keys(operations)) await loadTemplate(message, fields, choice)
}

/**
 * Mails what was asked of accounts. A code is stored before it is handed to the server; a message that was not taken is
 * written again with a new code, until what was asked has expired. No mail is sent for an account that does not exist.
 */
export async function mailDueCodes(mailing: Mailing & { readonly store: Store }, signal: AbortSignal): Promise<Mailed> {
  const { store, clock, sender, warn, choice } = mailing
  await checkAccountTemplates(choice)
  const mailed = { sent: 0, later: 0, ended: 0 }
  while (!signal.aborted) {
    const code = newCode()
    const due = await claimDueCode(store.db, code, clock())
    if (!due) break
    const message = messageFor(due)
    if (message === undefined) {
      await dropCode(store.db, due.id)
      mailed.ended += 1
      continue
    }
    const to = due.accountEmail ?? due.email
    const outcome = await sender.send({ ...(await write(mailing, message, due, code)), to, id: newCode() }, signal)
    if (outcome.kind === 'not-sent') {
      mailed.later += 1
      warn({ codeId: due.id, reply: outcome.code }, 'a message about an account was not taken and is tried again')
      continue
    }
    mailed[outcome.kind === 'sent' ? 'sent' : 'ended'] += 1
    if (outcome.kind !== 'sent')
      warn({ codeId: due.id, state: outcome.kind }, 'a message about an account was not mailed')
    if (message === 'account-exists') await dropCode(store.db, due.id)
    else await endMailing(store.db, due.id)
  }
  return mailed
}

/** The message for a request: only the owner of the e-mail learns whether it has an account. */
function messageFor({ purpose, accountEmail, disabled }: DueCode): Message | undefined {
  if (disabled) return undefined
  if (purpose === 'verification') return accountEmail === undefined ? 'verification' : 'account-exists'
  return accountEmail === undefined ? undefined : 'password-reset'
}

async function write({ choice, platform, baseUrl }: Mailing, message: Message, due: DueCode, code: string) {
  const template = await loadTemplate(message, fields, choice)
  const instant = new Intl.DateTimeFormat(choice.language, {
    ...({ dateStyle: 'long', timeStyle: 'short' } as const),
    timeZone: 'UTC',
  })
  return template.render({
    platform,
    email: due.accountEmail ?? due.email,
    code,
    validUntil: `${instant.format(due.expiresAt)} UTC`,
    address: `${baseUrl}/api/userservice/${operations[message]}`,
  })
}
