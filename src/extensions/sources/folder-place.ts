import { constants } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { addAbortSignal } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { atPlace, bounded, isHidden, leadsOut, type PlaceDeps, type SourcePlace, sourceUnavailable } from './place.js'

// A file that was written within this time may be written still.
const quietMs = 2_000

/** A folder, whose files are imported in the order of their names, or one file. */
export async function openFolder(location: string, deps: PlaceDeps): Promise<SourcePlace> {
  const isFolder = await atPlace(location, deps, async () => (await stat(location)).isDirectory())
  const { signal, limits } = deps
  const versionOf = async (file: string) => {
    const { size, mtimeMs, mtime } = await stat(file)
    return { version: `${size} bytes of ${mtime.toISOString()}`, mtimeMs }
  }
  return {
    isFolder,
    list: () =>
      atPlace(location, deps, async () => {
        if (!isFolder) return [{ name: path.basename(location), ...(await versionOf(location)) }]
        const entries = await readdir(location, { withFileTypes: true })
        const names = entries.filter((entry) => !entry.isDirectory() && !isHidden(entry.name)).map(({ name }) => name)
        if (names.length > limits.files) throw sourceUnavailable(`${location} has more than ${limits.files} files`)
        const files = []
        for (const name of names) {
          const file = path.join(location, name)
          // A link that leads nowhere, or out of the folder, fails when it is opened.
          const stats = await stat(file).catch(() => undefined)
          if (stats === undefined || stats.isFile()) files.push({ name })
        }
        return files
      }),
    open: ({ name }, known) =>
      atPlace(location, deps, async () => {
        const file = isFolder ? await fileIn(location, name) : location
        // What was no link a moment ago may be one by now.
        const flags = isFolder ? constants.O_RDONLY | constants.O_NOFOLLOW : constants.O_RDONLY
        let before = await versionOf(file)
        if (before.version === known) return undefined
        if (Math.abs(Date.now() - before.mtimeMs) < quietMs) {
          await sleep(quietMs, undefined, { signal })
          before = await versionOf(file)
        }
        const { version } = before
        async function* chunks() {
          yield* bounded(addAbortSignal(signal, (await open(file, flags)).createReadStream()), file, deps)
          const after = await atPlace(file, deps, () => versionOf(file))
          if (after.version !== version) throw sourceUnavailable(`${file} was changed while it was read`)
        }
        return { version, chunks: chunks() }
      }),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** The path of a folder's file, of a link that of the file which it leads to. Throws `input-unusable` when that is elsewhere. */
async function fileIn(folder: string, name: string): Promise<string> {
  const [root, file] = await Promise.all([realpath(folder), realpath(path.join(folder, name))])
  if (/^\.\.(?:\/|$)/.test(path.relative(root, file))) throw leadsOut(name, folder)
  return file
}
