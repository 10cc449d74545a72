import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { isoInstantOf } from '../../kernel/dates.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { parseSigningKey } from '../../kernel/release-chain.js'
import { ifThere } from '../../kernel/system-errors.js'
import { takeLock } from '../../platform/database/locks.js'
import { releaseFolder, syncToDisk } from '../../release/folder/release-folder.js'
import { toStorageError } from '../../release/folder/storage-errors.js'
import { type Countersigned, countersign, readChain } from '../../release/verify/witness.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import type { Runtime } from '../wiring/runtime.js'
import { toBaseUrl } from './base-url.js'

/** `giving witness`. */
export function registerWitness(program: Command, { storeAction }: CommandLine): void {
  addCommand(
    program,
    'witness',
    'countersign what other services have published; exit code 1 when a history is not the one seen before',
  )
    .argument('<url...>', 'addresses of the services')
    .action(storeAction(['signing'], witness))
}

/**
 * Appends the newest record of each chain to the file that this service publishes. A chain that was rewritten, or that cannot be
 * read, is told, and the others are countersigned all the same.
 */
async function witness(runtime: Runtime<'signing'>, output: Output, urls: readonly string[]): Promise<number> {
  const { secrets, store, feedsDir, clock, signal } = runtime
  const signer = parseSigningKey(secrets.signingKey ?? '')
  if (!('value' in signer)) {
    throw new ServiceError(
      'input-unusable',
      'SIGNING_KEY_FILE is not set: a witness signs (giving keys signing create)',
    )
  }
  const services = [...new Set(urls.map(toBaseUrl))]
  await using lock = await takeLock(store.db, 'witness')
  if (!lock) throw new ServiceError('input-unusable', 'another process is writing the file of this witness')
  const { witness: file } = releaseFolder(feedsDir)
  const before = await ifThere(readFile(file, 'utf8'))
  let text = before
  const seen: { url: string; countersigned: boolean; findings: Countersigned['findings'] }[] = []
  const lines: string[] = []
  const lookAt = async (url: string): Promise<Countersigned> => {
    // One that does not answer keeps no other from being witnessed.
    const look = await readChain(url, signal).then(
      (releases) => ({ releases }),
      (error: unknown) => ({ failure: toServiceError(error) }),
    )
    if (!('failure' in look)) return countersign(text, { url, ...look }, signer.value, isoInstantOf(clock()))
    if (signal.aborted) throw look.failure
    return { text, findings: [{ code: 'unsigned', expected: 'a chain of releases', got: look.failure.message }] }
  }
  for (const url of services) {
    const { text: next, findings } = await lookAt(url)
    const isNew = next !== text
    text = next
    seen.push({ url, countersigned: isNew, findings })
    for (const { code, expected, got } of findings) lines.push(`${code}: ${url}: expected ${expected}, got ${got}`)
    if (findings.length === 0) lines.push(`${url}: ${isNew ? 'countersigned' : 'nothing new'}`)
  }
  const isWell = seen.every(({ findings }) => findings.length === 0)
  if (text !== undefined && text !== before) {
    try {
      await writeFile(`${file}.tmp`, text)
      await syncToDisk(`${file}.tmp`)
      await rename(`${file}.tmp`, file)
    } catch (error) {
      throw toStorageError(error, file)
    }
  }
  return output.result({ ok: isWell, services: seen }, () => lines, { code: isWell ? 0 : 1 })
}
