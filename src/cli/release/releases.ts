import type { Command } from 'commander'
import {
  describePlace,
  findFolderOfStore,
  folderRefusal,
  placeOfFolder,
  useFolder,
} from '../../release/operate/folder-of-store.js'
import { changedElements } from '../../release/read/changed-elements.js'
import { diffReleases, type ReleaseDiff } from '../../release/read/diff-releases.js'
import { getRelease, type KnownRelease, listReleases, openIndexedRelease } from '../../release/read/list-releases.js'
import type { Sample } from '../../release/read/manifest.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { addCommand, type CommandLine } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { anyFolderBecause, ownFolderRefusal } from '../wiring/folder.js'
import { approveHeld, rollBackTo } from '../wiring/operator-actions.js'
import type { Runtime } from '../wiring/runtime.js'
import { deliveryOf, followOnce } from '../wiring/shared-folders.js'

/** `giving releases`. */
export function registerReleases(program: Command, { storeAction }: CommandLine): void {
  const releases = program
    .command('releases')
    .description('look at releases, approve a held one, go back to an earlier one')
  const add = (name: string, description: string) => addCommand(releases, name, description)
  add('list', 'list the releases on disk, newest first; exit code 1 when the newest is held').action(
    storeAction(releaseFields, list),
  )
  add('show <id>', 'show a release: files, totals, held activities, history').action(storeAction(releaseFields, show))
  add('diff <from> <to>', 'show what is different in the second release; exit code 1 when anything is').action(
    storeAction(['bucket'], diff),
  )
  add('approve <id>', 'make a held release live exactly as it was built')
    .option('--accept-loss', 'give up for ever the published identifiers that the release lacks', false)
    .action(storeAction(releaseFields, approve))
  add(
    'rollback <id>',
    'make an earlier release live again, until a publication has other content than the one replaced',
  ).action(storeAction(releaseFields, rollback))
  add(
    'folder',
    'show the folder that the store publishes into; exit code 1 when it is not the one of this process',
  ).action(storeAction(releaseFields, showFolder))
  add(
    'use-folder',
    'publish into the folder of this process from now on; without --confirm show what follows, exit code 1 when it needs --confirm',
  )
    .option('--confirm', 'change the folder', false)
    .action(storeAction(releaseFields, changeFolder))
}

const releaseFields = ['publish', 'reportingOrg', 'bucket'] as const

/** Exit code 1 when a release newer than the live one is held. */
async function list(runtime: Runtime, output: Output): Promise<number> {
  await followOnce(runtime)
  const releases = await listReleases(runtime)
  output.result(releases, () => (releases.length > 0 ? releases.map(describe) : 'no release yet'))
  const newest = releases.find(({ state }) => state === 'live' || state === 'held')
  return newest?.state === 'held' ? 1 : 0
}

async function show(runtime: Runtime, output: Output, id: string): Promise<number> {
  await followOnce(runtime)
  const { release, known, events } = await getRelease(runtime, id)
  const { files, totals, held } = release.manifest
  return output.result({ ...known, events, manifest: release.manifest }, () => [
    describe(known),
    ...files.map(
      ({ path, records, bytes, sha256 }) => `  ${path}: ${records} records, ${bytes} bytes, sha256 ${sha256}`,
    ),
    ...Object.entries(totals.money).map(([currency, amount]) => `  incoming funds: ${currency} ${amount}`),
    ...held.sample.slice(0, 10).map(({ identifier, notices }) => {
      const reasons = notices.map(({ code, detail }) => `${code}: ${detail}`)
      return `  held: ${identifier}: ${reasons.join('; ')}`
    }),
    ...events.map(
      ({ event, otherId, at }) =>
        `  ${at.toISOString()} ${event}${otherId === undefined ? '' : `, in place of ${otherId}`}`,
    ),
  ])
}

async function diff(runtime: Runtime, output: Output, from: string, to: string): Promise<number> {
  await followOnce(runtime)
  const { feedsDir } = runtime
  const [before, after] = await Promise.all([openIndexedRelease(feedsDir, from), openIndexedRelease(feedsDir, to)])
  const differences = await diffReleases(before.release, after.release)
  const elements: Record<string, readonly string[]> = {}
  for (const identifier of differences.activities.changed.sample) {
    elements[identifier] = (await changedElements(before, after, identifier)).map(({ name }) => name)
  }
  output.result({ ...differences, elements }, () => describeDiff(differences, elements))
  const { files, held } = differences
  return files.some(({ change }) => change !== 'same') || held.from !== held.to ? 1 : 0
}

async function approve(
  runtime: Runtime,
  output: Output,
  id: string,
  options: { acceptLoss: boolean },
): Promise<number> {
  const result = await approveHeld(runtime, deliveryOf, id, options)
  const given = result.withdrawn > 0 ? `; ${result.withdrawn} identifiers were given up` : ''
  return output.result(result, () => `release ${result.release} is live${given}`)
}

async function rollback(runtime: Runtime, output: Output, id: string): Promise<number> {
  const result = await rollBackTo(runtime, deliveryOf, id)
  output.result(result, () => [
    `release ${result.release} is live again in place of ${result.from}`,
    `it stays live until a publication differs from ${result.from}`,
  ])
  if (!output.json && result.missing.count > 0) {
    const { count, sample } = result.missing
    output.note(`it lacks ${count} identifiers published since: ${sample.join(', ')}`)
  }
  return 0
}

/** Exit code 1 when this process may not publish into its folder. */
async function showFolder(runtime: Runtime, output: Output): Promise<number> {
  const { store, feedsDir, config } = runtime
  const known = await findFolderOfStore(store.db)
  const [here, anyBecause] = [placeOfFolder(feedsDir), anyFolderBecause(config)]
  const refusal = await ownFolderRefusal(runtime)
  return output.result(
    { store: known, here, anyBecause, refusal },
    () => [
      ...labelled(
        [
          ['store', known ? `${describePlace(known)}, since ${known.since}` : 'none is recorded'],
          ['here', describePlace(here)],
        ],
        8,
      ),
      ...(anyBecause === undefined ? [] : [`any folder is published into: ${anyBecause}`]),
      ...(refusal === undefined ? [] : [refusal]),
    ],
    { code: refusal === undefined ? 0 : 1 },
  )
}

/** Exit code 0 when the folder of this process is the store's, 1 when that needs --confirm. */
async function changeFolder(
  runtime: Runtime,
  output: Output,
  { confirm }: { readonly confirm: boolean },
): Promise<number> {
  const { store, feedsDir } = runtime
  const known = await findFolderOfStore(store.db)
  const here = placeOfFolder(feedsDir)
  const [from, to] = [known && describePlace(known), describePlace(here)]
  if ((await folderRefusal(runtime)) === undefined && known) {
    return output.result({ from, to, confirmed: true }, () => `the store publishes into ${to} already`)
  }
  const live = await createReleaseReader(feedsDir).live()
  if (confirm) {
    await useFolder(runtime)
    const event = { action: 'folder-changed', details: { from: from ?? 'none', to } } as const
    await auditOperator(runtime, store.db, event)
  }
  return output.result(
    { from, to, live: live?.id, confirmed: confirm },
    () => [
      `folder of the store: ${from ?? 'none'} -> ${to}`,
      ...(known ? [`a process that has ${from} publishes no more: stop it, or give it this folder`] : []),
      live
        ? `readers get release ${live.id} from here until the next publication`
        : 'readers get no files from here until the next publication, which writes every file again: giving publish',
      confirm ? 'done' : 'nothing was changed: repeat the command with --confirm',
    ],
    { code: confirm ? 0 : 1 },
  )
}

function describe({ id, state, generated, activities, bytes, held, reason }: KnownRelease): string {
  const heldActivities = held > 0 ? `, ${held} of them held` : ''
  const why = state === 'held' && reason !== undefined ? `: ${reason}` : ''
  return `${id} ${state.padEnd(10)} ${generated} ${activities} activities${heldActivities}, ${bytes} bytes${why}`
}

function describeDiff(
  { activities, money, sums = [], files, held }: ReleaseDiff,
  elements: Readonly<Record<string, readonly string[]>>,
): string[] {
  const { added, removed, changed, ended, same } = activities
  return [
    ...Object.entries({ added, removed, changed, ended }).map(([change, named]) => `${change}: ${listed(named)}`),
    ...Object.entries(elements).flatMap(([identifier, names]) =>
      names.length === 0 ? [] : `  ${identifier}: ${names.join(', ')}`,
    ),
    `same: ${same}`,
    ...Object.entries(money).map(
      ([currency, { from, to, change }]) => `incoming funds ${currency}: ${from} -> ${to} (${change})`,
    ),
    ...sums
      .filter(({ kind }) => kind !== 'in')
      .map(({ kind, currency, from, to, change }) => `${moneyKinds[kind]} ${currency}: ${from} -> ${to} (${change})`),
    ...files
      .filter(({ change }) => change !== 'same')
      .map(
        ({ path, change, bytes, records }) =>
          `${path} ${change}: ${bytes.from} -> ${bytes.to} bytes, ${records.from} -> ${records.to} records`,
      ),
    ...(held.from === held.to ? [] : [`held activities: ${held.from} -> ${held.to}`]),
  ]
}

const moneyKinds = { budget: 'budgets', in: 'incoming funds', partners: 'paid to partners', expenditure: 'expenditure' }

function listed({ count, sample }: Sample): string {
  if (count === 0) return '0'
  return `${count} (${sample.join(', ')}${count > sample.length ? ', ...' : ''})`
}
