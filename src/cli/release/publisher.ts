import type { Command } from 'commander'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import {
  type PublisherFact,
  type PublisherIdentity,
  publisherDifferences,
  publisherFacts,
  publisherVariables,
} from '../../kernel/publisher.js'
import { countStoredAmounts } from '../../money/sql/stored-amounts.js'
import { variables } from '../../platform/config/variables.js'
import { listPublishers, lockPublisher, recordPublisher } from '../../platform/database/publisher.js'
import { countPublishedIdentifiers } from '../../release/sql/published-identifiers.js'
import { addCommand, type CommandLine, orNotFound } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { configuredPublisher, publisherFields } from '../wiring/publisher.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving publisher`. */
export function registerPublisher(program: Command, { storeAction }: CommandLine): void {
  const publisher = program.command('publisher').description('who publishes, in what currency and language')
  addCommand(
    publisher,
    'show',
    'show the publisher that is recorded; exit code 1 when the variables say otherwise',
  ).action(storeAction(publisherFields, show))
  addCommand(
    publisher,
    'change',
    'record another identifier, type or language of the publisher; without --confirm show what follows, exit code 1 when it needs --confirm',
  )
    .requiredOption('--from <value>', 'the recorded value, as giving publisher show prints it')
    .requiredOption('--to <value>', 'the new value')
    .option('--confirm', 'record the new value', false)
    .action(storeAction(publisherFields, changePublisher))
}

const names = { ref: 'identifier', type: 'type', currency: 'currency', language: 'language' } as const

/** Exit code 1 when a variable differs from what is recorded. */
async function show({ config, store }: Runtime, output: Output): Promise<number> {
  const all = await listPublishers(store.db)
  const recorded = all.at(-1)
  if (!recorded) {
    const message = 'nothing is recorded: the first release that is not a trial records who publishes'
    return output.result({ configured: configuredPublisher(config) }, () => message)
  }
  const differences = publisherDifferences(recorded, configuredPublisher(config))
  const earlier = all.slice(0, -1)
  return output.result(
    { ...recorded, earlier, differences },
    () => [
      ...labelled([...publisherFacts.map((fact) => [names[fact], recorded[fact]] as const), ['since', since(all)]], 12),
      ...earlier.map((one) => `until ${next(all, one)}: ${publisherFacts.map((fact) => one[fact]).join(', ')}`),
      ...differences,
    ],
    { code: differences.length > 0 ? 1 : 0 },
  )
}

type Recorded = Awaited<ReturnType<typeof listPublishers>>[number]

function since(all: readonly Recorded[]): string {
  return all.at(-1)?.recordedAt.toISOString() ?? ''
}

function next(all: readonly Recorded[], one: Recorded): string {
  return all[all.indexOf(one) + 1]?.recordedAt.toISOString() ?? ''
}

/** Exit code 0 when it is recorded, 1 when that needs --confirm. Throws `publisher-change-refused`. */
async function changePublisher(
  runtime: Runtime,
  output: Output,
  { from, to, confirm }: { readonly from: string; readonly to: string; readonly confirm: boolean },
): Promise<number> {
  const { config, store, clock } = runtime
  const change = (write: boolean) =>
    store.transaction(async (db) => {
      await lockPublisher(db)
      const recorded = orNotFound(
        (await listPublishers(db)).at(-1),
        'nothing is recorded: set the variables, and the first release records who publishes',
      )
      const fact = factOf(recorded, from)
      refuseUnusable(fact, from, to)
      if (fact === 'currency') throw await currencyRefusal(db, from, to)
      const published = await countPublishedIdentifiers(db)
      if (!write) return { fact, published }
      const changed: PublisherIdentity = { ...recorded, [fact]: to }
      await recordPublisher(db, changed, clock())
      const event = { action: 'publisher-changed', details: { what: names[fact], from, to } } as const
      await auditOperator(runtime, db, event)
      return { fact, published }
    })
  const { fact, published } = await change(confirm)
  const variable = publisherVariables[fact]
  const isSet = configuredPublisher(config)[fact] === to
  return output.result(
    { what: names[fact], from, to, published, confirmed: confirm },
    () => [
      `${names[fact]} of the publisher: ${from} -> ${to}`,
      ...consequences(fact, { from, to, published }),
      ...(isSet ? [] : [`set ${variable}=${to} and restart every process: until then nothing is published`]),
      confirm ? 'recorded; the next publication says so' : 'nothing was changed: repeat the command with --confirm',
    ],
    { code: confirm ? 0 : 1 },
  )
}

function factOf(recorded: PublisherIdentity, from: string): PublisherFact {
  const fact = publisherFacts.find((one) => recorded[one] === from)
  if (fact) return fact
  const values = publisherFacts.map((one) => `${recorded[one]} (${names[one]})`).join(', ')
  throw refused(`--from: expected a value that is recorded, one of ${values}, got ${from}`)
}

function refuseUnusable(fact: PublisherFact, from: string, to: string): void {
  const { parse, expected } = variables[publisherVariables[fact]]
  if (parse(to) !== to) throw refused(`--to: expected ${expected}, got ${to}`)
  if (to === from) throw refused(`--to: expected another value than ${from}`)
  if (fact === 'ref' && isDemoPublisher(to)) {
    throw refused(`--to: expected the identifier of a real publisher, got ${to}, which is of a trial`)
  }
}

async function currencyRefusal(
  db: Parameters<typeof countStoredAmounts>[0],
  from: string,
  to: string,
): Promise<ServiceError> {
  const amounts = await countStoredAmounts(db, from)
  const counted = amounts.map(({ kind, currency, count }) => `${count} ${kind} (${currency})`).join(', ')
  return refused(
    `the currency of a store is never changed in place: ${counted || 'no amount yet'} would have to be converted from ${from} to ${to}. ` +
      `Set DEFAULT_CURRENCY=${from} again, or convert an export (giving export DIR --format csv) and import it into a new store with DEFAULT_CURRENCY=${to}`,
  )
}

function consequences(
  fact: PublisherFact,
  { from, to, published }: { readonly from: string; readonly to: string; readonly published: number },
): string[] {
  if (fact === 'ref') {
    return [
      `${published} published activities keep their identifiers, and get ${from} as other-identifier of type B1`,
      `new projects are published as ${to}-..., and the files are registered by ${to} (docs/how-to/change-publisher.md)`,
    ]
  }
  if (fact === 'type') return [`${published} published activities and the organisation file get the type ${to}`]
  return [`${published} published activities state that their texts are in ${to}; no text is translated`]
}

function refused(message: string): ServiceError {
  return new ServiceError('publisher-change-refused', message)
}
