import { createHash } from 'node:crypto'
import { readdir, readFile, realpath } from 'node:fs/promises'
import path from 'node:path'
import { joinedBody, readParts } from '../../../src/release/folder/joined-file.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'

/** The hash of every file that is live in the folder, releases and bulk files, by its path; manifests and the chain are left out. */
export async function publishedBytes(feedsDir: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const root of [feedsDir, path.join(feedsDir, 'bulk')]) {
    const live = await realpath(releaseFolder(root).current)
    const add = (address: string, bytes: Buffer) => {
      const name = `${path.relative(feedsDir, path.dirname(path.dirname(live)))}/${address}`
      hashes[name] = createHash('sha256').update(bytes).digest('hex')
    }
    for (const entry of await readdir(live, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || ['manifest.json', 'releases.json', 'parts.json', 'layers.json'].includes(entry.name))
        continue
      const file = path.join(entry.parentPath, entry.name)
      // Which release wrote a block is nothing that is published.
      if (path.relative(live, file).startsWith('layers/')) continue
      add(path.relative(live, file), await readFile(file))
    }
    for (const [address, { identity, gzip }] of Object.entries((await readParts(live)).joined)) {
      add(address.slice(1), await joinedBody(live, identity).bytes())
      add(`${address.slice(1)}.gz`, await joinedBody(live, gzip).bytes())
    }
  }
  return hashes
}

/** A manifest without what names its run, and when files that did not change were last written. */
export function comparableManifest(manifest: object): unknown {
  const own = new Set([
    'release',
    'run',
    'immutablePath',
    'previous',
    'previousSha256',
    'previousReleases',
    'lastModified',
  ])
  return JSON.parse(JSON.stringify(manifest, (name, value: unknown) => (own.has(name) ? undefined : value)))
}
