import type { Environment } from '../config/config.js'
import { diffReleases, type Named, type ReleaseDiff } from '../publishing/release/diff-releases.js'
import {
  approveRelease,
  getRelease,
  type KnownRelease,
  listReleases,
  openAnyRelease,
  rollbackRelease,
} from '../publishing/release/operate-releases.js'
import type { Output } from './output.js'
import { openRuntime, type Runtime } from './runtime.js'

/** `giving releases list`: everything on disk, newest first; exit code 1 when a release newer than the live one is held. */
export async function listReleasesCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const releases = await listReleases(depsOf(runtime))
  if (output.json) output.line(JSON.stringify(releases))
  else if (releases.length === 0) output.line('no release yet')
  for (const release of output.json ? [] : releases) output.line(describe(release))
  const newest = releases.find(({ state }) => state === 'live' || state === 'held')
  return newest?.state === 'held' ? 1 : 0
}

/** `giving releases show ID`: its files, totals, held activities, why it is held, and what happened to it. */
export async function showReleaseCommand(environment: Environment, id: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { release, known, events } = await getRelease(depsOf(runtime), id)
  if (output.json) {
    output.line(JSON.stringify({ ...known, events, manifest: release.manifest }))
    return 0
  }
  output.line(describe(known))
  for (const file of release.manifest.files) {
    output.line(`  ${file.path}: ${file.records} records, ${file.bytes} bytes, sha256 ${file.sha256}`)
  }
  for (const [currency, amount] of Object.entries(release.manifest.totals.money)) {
    output.line(`  incoming funds: ${currency} ${amount}`)
  }
  for (const { identifier, notices } of release.manifest.held.sample.slice(0, 10)) {
    output.line(`  held: ${identifier}: ${notices.map(({ code, detail }) => `${code}: ${detail}`).join('; ')}`)
  }
  for (const { event, otherId, at } of events) {
    output.line(`  ${at.toISOString()} ${event}${otherId === undefined ? '' : `, in the place of ${otherId}`}`)
  }
  return 0
}

/** `giving releases diff A B`: what is different in B; exit code 0 nothing, 1 something. */
export async function diffReleasesCommand(
  environment: Environment,
  [from, to]: readonly [string, string],
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { feedsDir } = runtime
  const diff = await diffReleases(await openAnyRelease(feedsDir, from), await openAnyRelease(feedsDir, to))
  if (output.json) output.line(JSON.stringify(diff))
  else print(diff, output)
  return diff.files.some(({ change }) => change !== 'same') || diff.held.from !== diff.held.to ? 1 : 0
}

/** `giving releases approve ID`: makes a held release live exactly as it was built. */
export async function approveReleaseCommand(
  environment: Environment,
  id: string,
  options: { readonly acceptLoss: boolean },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const result = await approveRelease(depsOf(runtime), id, options)
  runtime.log.warn(result, 'held release approved')
  const given = result.withdrawn > 0 ? `; ${result.withdrawn} identifiers were given up` : ''
  output.line(output.json ? JSON.stringify(result) : `release ${result.release} is live${given}`)
  return 0
}

/** `giving releases rollback ID`: puts an earlier release back until the content changes again. */
export async function rollbackReleaseCommand(environment: Environment, id: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const result = await rollbackRelease(depsOf(runtime), id)
  runtime.log.warn(result, 'release rolled back')
  if (output.json) {
    output.line(JSON.stringify(result))
    return 0
  }
  output.line(`release ${result.release} is live again in the place of ${result.from}`)
  output.line(`it stays until a publication has other content than ${result.from}`)
  if (result.missing.count > 0) {
    const { count, sample } = result.missing
    output.note(`it lacks ${count} identifiers published since: ${sample.join(', ')}`)
  }
  return 0
}

function depsOf({ store, feedsDir, clock, config }: Runtime) {
  return { store, feedsDir, clock, keepReleases: config.publish.keepReleases }
}

function describe({ id, state, generated, activities, bytes, held, reason }: KnownRelease): string {
  const heldActivities = held > 0 ? `, ${held} of them held` : ''
  const why = state === 'held' && reason !== undefined ? `: ${reason}` : ''
  return `${id} ${state.padEnd(10)} ${generated} ${activities} activities${heldActivities}, ${bytes} bytes${why}`
}

function print(diff: ReleaseDiff, output: Output): void {
  const { added, removed, changed, same } = diff.activities
  for (const [what, named] of Object.entries({ added, removed, changed })) output.line(`${what}: ${listed(named)}`)
  output.line(`same: ${same}`)
  for (const [currency, { from, to, change }] of Object.entries(diff.money)) {
    output.line(`incoming funds ${currency}: ${from} -> ${to} (${change})`)
  }
  for (const { path, change, bytes, records } of diff.files) {
    if (change === 'same') continue
    output.line(`${path} ${change}: ${bytes.from} -> ${bytes.to} bytes, ${records.from} -> ${records.to} records`)
  }
  if (diff.held.from !== diff.held.to) output.line(`held activities: ${diff.held.from} -> ${diff.held.to}`)
}

function listed({ count, sample }: Named): string {
  if (count === 0) return '0'
  return `${count} (${sample.join(', ')}${count > sample.length ? ', ...' : ''})`
}
