import { createHmac, randomUUID } from 'node:crypto'
import { ServiceError } from '../src/kernel/errors.js'
import { type AlarmChange, raiseAlarms, sendTestAlarm, type Unrecorded } from '../src/platform/alarms.js'
import { SmtpSender } from '../src/platform/mail/smtp.js'
import { askStatus } from '../src/platform/outgoing/http-client.js'
import type { Work, WorkDeps } from './work-row.js'

const answerMs = 10_000

/** Checks every minute what needs a person, and sends changes by webhook and mail. */
export const alarms: Work = {
  name: 'alarms',
  fields: ['alerts', 'mail'],
  queues: { settlement: 4 },
  schedules: ({ alerts }) => (alerts ? { alarms: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: (deps) => {
    const { store, clock, needs } = deps
    const tellAll = openAlarmWays(deps)
    if (!tellAll || !needs) return undefined
    const unrecorded: Unrecorded = {}
    return {
      tick: async ({ signal }) => {
        const tell = (changes: readonly AlarmChange[]) => tellAll(changes, signal)
        const count = await raiseAlarms(store, clock(), await needs(), tell, { unrecorded })
        const isTested = await sendTestAlarm(store, clock(), tell)
        return `${count} told${isTested ? ', and a test' : ''}`
      },
    }
  },
}

type Telling = (changes: readonly AlarmChange[], signal: AbortSignal) => Promise<void>

/** Tells by webhook and mail, as configured; throws when no way took the message. Undefined: nobody is to be told. */
export function openAlarmWays(deps: Pick<WorkDeps, 'config' | 'clock' | 'log'>): Telling | undefined {
  const { config, clock, log } = deps
  const { alerts, mail, secrets } = config
  if (!alerts) return undefined
  const { webhookUrl, mailTo } = alerts
  const ways: Telling[] = []
  const secret = webhookUrl === undefined ? undefined : secrets.alertWebhookSecret
  if (webhookUrl !== undefined && secret !== undefined) {
    ways.push((changes, signal) => {
      const message = { sentAt: clock().toISOString(), alarms: changes }
      return post(webhookUrl, secret, message, signal)
    })
  }
  if (mailTo !== undefined && mail && secrets.smtpUrl !== undefined) {
    const sender = new SmtpSender(secrets.smtpUrl, mail.from)
    ways.push((changes, signal) => sendMail(sender, mailTo, changes, signal))
  }
  if (ways.length === 0) return undefined
  return async (changes, signal) => {
    const ended = await Promise.allSettled(ways.map((tell) => tell(changes, signal)))
    const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    for (const err of failures) log.error({ err }, 'cannot send an alarm')
    // One delivery is enough; failures of the other are in the log.
    if (failures.length === ways.length) throw failures[0]
  }
}

/** The receiver computes the same signature from the bytes of the body. */
async function post(url: string, secret: string, message: object, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(message)
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-giving-signature': signature }
  const status = await askStatus(url, { method: 'POST', headers, body, totalMs: answerMs, signal })
  if (status > 299) throw new ServiceError('internal', `ALERT_WEBHOOK_URL answered with status ${status}`)
}

async function sendMail(
  sender: SmtpSender,
  to: string,
  changes: readonly AlarmChange[],
  signal: AbortSignal,
): Promise<void> {
  const lines = changes.map(({ state, message, since }) => `${state}: ${message} (since ${since})`)
  const are = (state: AlarmChange['state']) => changes.every((one) => one.state === state)
  const subject = are('over') ? 'giving: over' : are('test') ? 'giving: a test' : 'giving needs a person'
  const text = `${lines.join('\n')}\n\ngiving status tells all of it.\n`
  const html = `<pre>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`
  const outcome = await sender.send({ to, subject, text, html, id: randomUUID() }, signal)
  if (outcome.kind !== 'sent') throw new ServiceError('internal', `the mail to ALERT_MAIL_TO: ${outcome.kind}`)
}
