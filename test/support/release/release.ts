import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { IsoInstant } from '../../../src/kernel/dates.js'
import { releaseFolder, switchLiveRelease } from '../../../src/release/folder/release-folder.js'
import type { Manifest } from '../../../src/release/read/manifest.js'

export type FileSeed = { readonly path: string; readonly mediaType: string; readonly text: string }

/** Writes a release as the publisher lays it out, makes it live, and returns its manifest. */
export async function layRelease(
  feedsDir: string,
  release: { id: string; lastModified: string; files: readonly FileSeed[] },
): Promise<Manifest> {
  const folder = releaseFolder(feedsDir)
  const directory = path.join(folder.releases, release.id)
  await mkdir(directory, { recursive: true })
  const files = []
  for (const file of release.files) {
    const target = path.join(directory, file.path)
    await mkdir(path.dirname(target), { recursive: true })
    const bytes = Buffer.from(file.text)
    const compressed = gzipSync(bytes, { level: 6 })
    await writeFile(target, bytes)
    await writeFile(`${target}.gz`, compressed)
    files.push({
      path: file.path,
      immutablePath: `/feeds/releases/${release.id}${file.path}`,
      mediaType: file.mediaType,
      records: 1,
      bytes: bytes.length,
      gzipBytes: compressed.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      lastModified: release.lastModified as IsoInstant,
      fingerprint: 'test',
      notices: { errors: 0, warnings: 0, infos: 0, byCode: {} },
    })
  }
  const manifest: Manifest = {
    release: release.id,
    run: 1,
    generated: release.lastModified as IsoInstant,
    publisher: { ref: 'XM-TEST', name: 'Test' },
    files,
    projectFeeds: { count: 0, index: '/feeds/projects/index.json' },
    held: { count: 0, sample: [] },
    totals: { activities: 1, money: {} },
  }
  await writeFile(path.join(directory, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await switchLiveRelease(folder, release.id)
  return manifest
}
