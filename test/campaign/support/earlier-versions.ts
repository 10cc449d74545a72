import { spawnSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { listMigrations } from '../../../src/platform/database/migrate.js'

/** A commit whose program may run beside this one while the migrations that it does not know are applied. */
export type EarlierVersion = { readonly commit: string; readonly unknown: readonly string[] }

const migrations = 'src/platform/database/migrations'

function git(...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: path.resolve(import.meta.dirname, '../../..') })
  return status === 0 ? stdout.toString().trim() : ''
}

/**
 * The last commit before each migration since the newest breaking one, the latest first. A clone without history has none
 * of them.
 */
export function earlierVersions(): EarlierVersion[] {
  const ours = listMigrations()
  const breaking = ours.findLast((one) => one.breaking)?.name
  const candidates = git('log', '--format=%H', '--', migrations)
    .split('\n')
    .map((commit) => `${commit}^`)
  return ['HEAD', ...candidates].flatMap((candidate) => {
    const commit = git('rev-parse', '--verify', '--quiet', candidate)
    const files = git('ls-tree', '--name-only', commit, `${migrations}/`).split('\n')
    const known = new Set(files.map((file) => path.basename(file, '.sql')))
    const unknown = ours.filter(({ name }) => !known.has(name)).map(({ name }) => name)
    const ourOwn = known.size + unknown.length === ours.length
    return commit !== '' && ourOwn && unknown.length > 0 && known.has(breaking ?? '') ? [{ commit, unknown }] : []
  })
}

/** Puts the sources of a commit into a new folder, which the caller removes. */
export async function sourcesOf({ commit }: EarlierVersion): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-earlier-'))
  const command = `git archive ${commit} package.json src jobs | tar -x -C "$1"`
  const { status, stderr } = spawnSync('sh', ['-c', command, 'sh', folder], {
    cwd: path.resolve(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the sources of ${commit} cannot be unpacked: ${stderr}`)
  return folder
}
