import { randomUUID } from 'node:crypto'
import type { Decimal } from '../../../../src/kernel/money.js'
import { declines } from '../../../../src/money/gateways/declines.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { enterCharges } from '../../../../src/money/sql/sandbox-charges.js'
import { testDatabase } from '../../../support/store/database.js'
import { describeGateway } from './gateway-conformance.js'

describeGateway({
  name: 'sandbox',
  declines: [
    ...Object.keys(declines).map((code) => [`fake-declined-${code}-nonce`, Number(code)] as const),
    ['fake-gateway-rejected-fraud-nonce', 2014],
    ['never-given-out-nonce', 2038],
  ],
  unknown: [
    ['fake-timeout-before-nonce', false],
    ['fake-timeout-after-nonce', true],
  ],
  refusedNonces: ['fake-down-nonce'],
  carriesNotes: false,
  refundsPartsEarly: true,
  timeoutMs: 2_000,
  open: async () => {
    const { store } = await testDatabase()
    return {
      gateway: createSandboxGateway({ store, clock: () => new Date() }),
      refused: {},
      secrets: [],
      held: async (reference) => {
        const { rows } = await store.db.query<{ charges: number; amount: Decimal }>(
          `select count(*)::integer as charges, coalesce(sum(c.amount - (
              select coalesce(sum(r.amount), 0) from sandbox_refund r where r.charge_id = c.id)), 0)::text as amount
            from sandbox_charge c where c.reference = $1 and c.decline_code is null`,
          [reference],
        )
        return rows[0] ?? { charges: 0, amount: '0' as Decimal }
      },
      settle: async () => undefined,
      showInSearch: async () => undefined,
      chargeMany: async (count) => {
        const charged = Array.from({ length: count }, () => {
          const money = { amount: '42.50' as Decimal, currency: 'USD', declineCode: undefined }
          return { ...money, reference: randomUUID(), at: new Date() }
        })
        await enterCharges(store.db, charged)
        return charged.map(({ reference }) => reference)
      },
      changeAmount: async (reference, amount) => {
        await store.db.query('update sandbox_charge set amount = $2 where reference = $1', [reference, amount])
      },
      close: async () => undefined,
    }
  },
})
