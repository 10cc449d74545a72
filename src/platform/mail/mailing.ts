import type { Clock } from '../../kernel/dates.js'
import type { TemplateChoice } from './load-template.js'
import type { SmtpSender } from './smtp.js'

/** What writing and sending mail needs. */
export type Mailing = {
  readonly sender: Pick<SmtpSender, 'send'>
  /** Where templates come from, in the language of the platform unless a reader wants another. */
  readonly choice: TemplateChoice
  readonly platform: string
  /** The address of the service, without trailing slash. */
  readonly baseUrl: string
  readonly clock: Clock
  /** Reports what went wrong, without the recipient. */
  readonly warn: (details: Readonly<Record<string, string | number | undefined>>, message: string) => void
}

/** How many messages ended how. */
export type Mailed = { readonly sent: number; readonly later: number; readonly ended: number }
