import { spawnSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { listMigrations } from '../../../src/platform/database/migrate.js'

/** A commit whose program may run beside this one while the migrations that it does not know are applied. */
export type EarlierVersion = {
  readonly commit: string
  readonly unknown: readonly string[]
  /** The version before 1.0 that brings its database to the baseline first; undefined where the commit is as far. */
  readonly through: string | undefined
}

const migrations = 'src/platform/database/migrations'
const beforeRooms = 'src/store/migrations'
// A version before 1.0 runs beside this one if it knows the last migration that was breaking then.
const breakingBeforeBaseline = '0029-sealed-donors'
const lastBeforeBaseline = '0046-organisation-changes'

function git(...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: path.resolve(import.meta.dirname, '../../..') })
  return status === 0 ? stdout.toString().trim() : ''
}

/**
 * The last commit before each migration since the newest breaking one, the latest first; or the commits that are named. A
 * clone without history has none of them.
 */
export function earlierVersions(named: readonly string[] = []): EarlierVersion[] {
  const [baseline = '', ...later] = listMigrations().map(({ name }) => name)
  const breaking = listMigrations().findLast((one) => one.breaking)?.name ?? ''
  const commits = git('log', '--format=%H', '--', migrations, beforeRooms).split('\n')
  const parents = ['HEAD', ...commits.map((commit) => `${commit}^`)].map((one) =>
    git('rev-parse', '--quiet', '--verify', one),
  )
  const bridge = parents.find((commit) => {
    const known = migrationsOf(commit)
    return known.has(lastBeforeBaseline) && !later.some((name) => known.has(name))
  })
  const versions: EarlierVersion[] = []
  for (const commit of new Set(named.length > 0 ? named : parents.filter((one) => one !== ''))) {
    const known = migrationsOf(commit)
    const mayRun = known.has(known.has(baseline) ? breaking : breakingBeforeBaseline)
    const through = known.has(baseline) || known.has(lastBeforeBaseline) ? undefined : bridge
    const isReachable = known.has(baseline) || known.has(lastBeforeBaseline) || bridge !== undefined
    const unknown = later.filter((name) => !known.has(name))
    // A commit between two that were joined may have a number twice: its program does not start.
    const numbers = [...known].map((name) => name.slice(0, 4))
    const starts = new Set(numbers).size === numbers.length
    if (mayRun && isReachable && starts && unknown.length > 0) versions.push({ commit, unknown, through })
  }
  return versions
}

function migrationsOf(commit: string): Set<string> {
  const files = git('ls-tree', '--name-only', commit, `${migrations}/`, `${beforeRooms}/`).split('\n')
  return new Set(files.map((file) => path.basename(file, '.sql')))
}

/** Puts the sources of a commit into a new folder, which the caller removes. */
export async function sourcesOf(commit: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-earlier-'))
  const command = `git archive ${commit} package.json package-lock.json src jobs | tar -x -C "$1"`
  const { status, stderr } = spawnSync('sh', ['-c', command, 'sh', folder], {
    cwd: path.resolve(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the sources of ${commit} cannot be unpacked: ${stderr}`)
  return folder
}
