import type { Command } from 'commander'
import { addCommand, type CommandLine } from '../../cli/command-line.js'
import type { Output } from '../../cli/output.js'
import { auditOperator } from '../../cli/wiring/audit.js'
import { publisherFields, refuseToTell } from '../../cli/wiring/publisher.js'
import type { Runtime } from '../../cli/wiring/runtime.js'
import {
  lookAtRegistry,
  type RegistryDeps,
  type RegistryResult,
  type RegistryView,
  registerDatasets,
  remembering,
  unregisterDatasets,
} from './register.js'
import type { RegistryCall } from './registry-client.js'
import { usingRegistry } from './using-registry.js'

/** `giving registry`. */
export function registerRegistry(program: Command, { storeAction }: CommandLine): void {
  const registry = program.command('registry').description('the datasets of this publisher in the IATI registry')
  addCommand(registry, 'status', 'compare the registry with what is published; exit code 1 when they differ').action(
    storeAction(['registry'], showStatus),
  )
  const addChange = (name: string, description: string, work: Change, after?: { readonly unregisters: true }) =>
    addCommand(registry, name, description)
      .option('--dry-run', 'show each call, and change nothing', false)
      .action(
        storeAction(['registry', ...publisherFields], (runtime, output, options: Flags) =>
          change(runtime, output, { ...options, ...after }, (deps) => work(deps, runtime.signal)),
        ),
      )
  addChange(
    'register',
    'create the datasets that are missing; exit code 1 when one could not be created',
    (deps, signal) => registerDatasets(deps, { corrects: false }, signal),
  )
  addChange('sync', 'create the datasets that are missing, and correct those that differ', (deps, signal) =>
    registerDatasets(deps, { corrects: true }, signal),
  )
  addChange(
    'unregister',
    'delete the datasets of this service; nothing is registered again until giving registry register',
    unregisterDatasets,
    { unregisters: true },
  )
}

type Change = (deps: RegistryDeps, signal: AbortSignal) => Promise<RegistryResult>
type Flags = { readonly dryRun: boolean; readonly unregisters?: boolean }
async function showStatus(runtime: Runtime, output: Output): Promise<number> {
  const { store, clock, signal } = runtime
  const view = await usingRegistry(runtime, { dryRun: false }, (deps) =>
    remembering({ ...deps, db: store.db, clock }, () => lookAtRegistry(deps, signal)),
  )
  const { publisher, datasets, others } = view
  return output.result(
    toJson(view),
    () => [
      describePublisher(view),
      ...datasets.map(({ state, fields, differences }) =>
        [
          `${state.padEnd(10)}  ${fields.short_name}  ${fields.url}`,
          ...differences.map(({ field, registered, wanted }) => `${field}: expected ${wanted}, got ${registered}`),
        ].join('; '),
      ),
      ...(others > 0 ? [`further datasets of the publisher: ${others}`] : []),
      ...(publisher.metadata.registry_approved === false
        ? ['note: the registry has not approved the publisher yet, so nobody else sees its datasets']
        : []),
    ],
    { code: datasets.every(({ state }) => state === 'registered') ? 0 : 1 },
  )
}

async function change(
  runtime: Runtime,
  output: Output,
  { dryRun, unregisters = false }: Flags,
  work: (deps: RegistryDeps) => Promise<RegistryResult>,
): Promise<number> {
  const { store, clock } = runtime
  if (!unregisters) await refuseToTell(runtime)
  return await usingRegistry(runtime, { dryRun }, async (deps) => {
    if (dryRun) {
      const { calls } = deps.client
      await work(deps)
      output.result({ calls }, () => calls.map(describeCall))
      return 0
    }
    const recording = { ...deps, db: store.db, clock }
    const result = await remembering(recording, () => work(deps), { isUnregistered: unregisters })
    const { datasets } = result
    const count = (done: string) => datasets.filter((dataset) => dataset.done === done).length
    const [created, corrected, deleted] = [count('created'), count('corrected'), count('deleted')]
    if (deleted > 0) {
      await auditOperator(runtime, store.db, { action: 'datasets-unregistered', details: { deleted } })
    } else if (created + corrected > 0) {
      await auditOperator(runtime, store.db, { action: 'datasets-registered', details: { created, corrected } })
    }
    output.result(toJson(result), () => [
      describePublisher(result),
      ...datasets.map(({ done, conflict, fields, state }) =>
        conflict === undefined
          ? `${(done === 'none' ? state : done).padEnd(10)}  ${fields.short_name}  ${fields.url}`
          : `conflict    ${conflict}`,
      ),
    ])
    return datasets.some(({ conflict }) => conflict !== undefined) ? 1 : 0
  })
}

function toJson({ publisher, datasets, others }: RegistryView) {
  const { id, user_role, metadata } = publisher
  return { publisher: { id, role: user_role, ...metadata }, datasets, others }
}

function describePublisher({ publisher: { metadata, user_role: role } }: RegistryView): string {
  const account = role ? `; this account is ${role}` : ''
  return `publisher: ${metadata.human_readable_name} (${metadata.organisation_identifier})${account}`
}

function describeCall({ method, path, body, sent }: RegistryCall): string {
  return `${method} ${path}${body ? ` ${JSON.stringify(body)}` : ''}${sent ? '' : ' (not sent)'}`
}
