import { createHash } from 'node:crypto'
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Store } from '../../../src/platform/database/store.js'
import { readParts } from '../../../src/release/folder/joined-file.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { toServedFile } from '../../../src/release/folder/served-file.js'
import type { Manifest } from '../../../src/release/read/manifest.js'
import { findLiveRelease } from '../../../src/release/sql/releases.js'

/**
 * Everything that is wrong with a folder of published files: hashes and sizes against the manifest, twins, drafts, the
 * database. Empty when all is well.
 */
export async function faultsOf(feedsDir: string, store: Store): Promise<string[]> {
  const faults: string[] = []
  const folder = releaseFolder(feedsDir)
  const drafts = await readdir(folder.drafts)
  if (drafts.length > 0) faults.push(`drafts remain: ${drafts.join(', ')}`)
  const links = (await readdir(folder.root)).filter((name) => name.endsWith('.tmp'))
  if (links.length > 0) faults.push(`links remain: ${links.join(', ')}`)
  const live = path.basename(await readlink(folder.current))
  faults.push(...(await faultsOfRelease(path.join(folder.releases, live))))
  const row = await findLiveRelease(store.db)
  if (row?.id !== live) faults.push(`the database says ${row?.id} is live, the directory ${live}`)
  return faults
}

/** Files of a release that are not what its manifest says. */
export async function faultsOfRelease(directory: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(path.join(directory, 'manifest.json'), 'utf8')) as Manifest
  const { joined } = await readParts(directory)
  const faults: string[] = []
  for (const file of manifest.files) {
    const { identity, gzip } = toServedFile(directory, file.path, file, joined[file.path])
    const bytes = await identity.bytes()
    const hash = (buffer: Buffer) => createHash('sha256').update(buffer).digest('hex')
    if (bytes.length !== file.bytes || hash(bytes) !== file.sha256) faults.push(`${file.path} is not what it should be`)
    if (gzip && hash(gunzipSync(await gzip.bytes())) !== file.sha256) faults.push(`${file.path}.gz differs`)
  }
  return faults
}
