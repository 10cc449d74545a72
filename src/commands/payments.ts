import type { Command } from 'commander'
import { checkGateway, type GatewayStep } from '../payments/check-gateway.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { openPayments, paymentFields } from './wiring/payments.js'
import type { Runtime } from './wiring/runtime.js'

/** `giving payments`. */
export function registerPayments(program: Command, { storeAction }: CommandLine): void {
  program
    .command('payments')
    .description('the payment gateway')
    .command('check')
    .description('try the gateway: account, client token, a sale, its search and refund; exit code 1 when one fails')
    .option('--nonce <nonce>', 'pay with this nonce, also where real money moves; default: one that a sandbox approves')
    .option(...jsonOption)
    .action(storeAction(paymentFields, check))
}

async function check(
  runtime: Runtime<(typeof paymentFields)[number]>,
  output: Output,
  { nonce }: { readonly nonce?: string },
): Promise<number> {
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
