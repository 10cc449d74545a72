import { type Command, Option } from 'commander'
import { ServiceError } from '../../kernel/errors.js'
import { checkGateway, type GatewayStep } from '../../money/check-gateway.js'
import { followAndClose } from '../../money/handle-webhooks.js'
import { acceptDifference } from '../../money/sql/charge-states.js'
import { listWebhooks, type WebhookState } from '../../money/sql/webhook-events.js'
import { addCommand, type CommandLine, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { compareByHand } from '../wiring/money-actions.js'
import { openPayments, paymentFields } from '../wiring/payments.js'
import type { Runtime } from '../wiring/runtime.js'

const webhookStates = ['due', 'done', 'ignored', 'failed'] satisfies WebhookState[]

/** `giving payments`. */
export function registerPayments(program: Command, { storeAction }: CommandLine): void {
  const payments = program
    .command('payments')
    .description('the payment gateway: try it, follow a charge, list its events')
  addCommand(
    payments,
    'check',
    'try the gateway: account, client token, a sale, its search and refund; exit code 1 when one fails',
  )
    .option('--nonce <nonce>', 'pay with this nonce, also with real money; default: one that a sandbox approves')
    .action(storeAction(paymentFields, check))
  addCommand(payments, 'follow', 'bring the books in line with a charge at the processor; exit code 1 when they differ')
    .argument('[donation]', 'number of the donation that was charged', wholeNumber)
    .option('--charge <id>', "the processor's id of the charge, in place of the donation")
    .option('--accept', 'accept the remaining difference', false)
    .action(storeAction(paymentFields, follow))
  addCommand(payments, 'webhooks', 'list events that the processor has sent, newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(webhookStates))
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .action(storeAction([], webhooks))
}

async function check(runtime: Runtime, output: Output, { nonce }: { readonly nonce?: string }): Promise<number> {
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const gateway = payments.gateway.name
  if (!output.json) output.line(`gateway: ${gateway}`)
  const steps: GatewayStep[] = []
  for await (const step of checkGateway(payments, nonce)) {
    steps.push(step)
    if (!output.json) output.line(`${step.step}: ${step.ok ? 'ok' : 'failed'}, ${step.detail}`)
  }
  if (output.json) output.result({ gateway, steps }, () => [])
  return steps.every(({ ok }) => ok) ? 0 : 1
}

async function follow(
  runtime: Runtime,
  output: Output,
  donation: number | undefined,
  { charge, accept }: { readonly charge?: string; readonly accept: boolean },
): Promise<number> {
  const { store } = runtime
  if ((donation === undefined) === (charge === undefined) || (accept && donation === undefined)) {
    throw new ServiceError('request-invalid', 'expected the number of a donation, or --charge without --accept')
  }
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const { charge: chargeId, found } =
    charge === undefined
      ? await compareByHand(runtime, payments, donation ?? 0)
      : { charge, found: await followAndClose(payments, charge) }
  const accepted =
    accept && donation !== undefined && found === 'differs'
      ? await store.transaction(async (db) => {
          const difference = await acceptDifference(db, donation)
          const details = { difference: difference ?? '' }
          await auditOperator(runtime, db, { action: 'difference-accepted', subject: `donation ${donation}`, details })
          return difference
        })
      : undefined
  return output.result(
    { donation, charge: chargeId, found, accepted },
    () =>
      accepted === undefined ? `charge ${chargeId}: ${found}` : `charge ${chargeId}: ${found}; accepted: ${accepted}`,
    { code: found === 'agrees' || found === 'corrected' || accepted !== undefined ? 0 : 1 },
  )
}

type WebhookFilter = { readonly state?: WebhookState; readonly limit: number }

async function webhooks({ store }: Runtime, output: Output, { state, limit }: WebhookFilter): Promise<number> {
  const events = await listWebhooks(store.db, { state, limit })
  return output.result(events, () =>
    events.length === 0
      ? 'no webhooks'
      : events.map(({ at, kind, chargeId, state: now, outcome }) =>
          [at.toISOString(), kind, chargeId, now, outcome].filter((part) => part !== undefined).join('  '),
        ),
  )
}
