import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { type DonorKey, parseDonorKeys } from '../../kernel/donor.js'
import { errnoOf } from '../../kernel/system-errors.js'
import { DonorVault } from '../../money/donors/donor-vault.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that donors' keys use. */
export const donorFields = ['donors', 'reportingOrg'] as const

/**
 * Donors' keys as this runtime is configured. A trial, which publishes under the demo publisher, makes a key of its own in
 * the data directory; `makesKey: false` only reads it. Its donors stay readable after DONOR_KEYS was set.
 */
export async function openDonorVault(
  { config, secrets }: Pick<Runtime<(typeof donorFields)[number]>, 'config' | 'secrets'>,
  { makesKey = true }: { readonly makesKey?: boolean } = {},
): Promise<DonorVault> {
  const given = keysIn(secrets.donorKeys)
  const file = path.join(config.dataDir, 'donor-keys')
  const inFile = keysIn(await readKeyFile(file)).map((key) => ({ ...key, ofTrial: true }))
  const ofTrial = inFile.filter(({ id }) => !given.some((key) => key.id === id))
  if (given.length > 0) return new DonorVault([...given, ...ofTrial])
  if (!isDemoPublisher(config.reportingOrg.ref)) {
    return new DonorVault(ofTrial, "DONOR_KEYS is not set, so donors' data cannot be encrypted")
  }
  if (ofTrial.length > 0) return new DonorVault(ofTrial)
  if (!makesKey) return new DonorVault([])
  try {
    return new DonorVault(keysIn(await makeKeyFile(file)))
  } catch (error) {
    const reason = errnoOf(error) ?? 'unknown'
    return new DonorVault([], `the key file ${file} cannot be written (${reason}) and DONOR_KEYS is not set`)
  }
}

function keysIn(text: string | undefined): readonly DonorKey[] {
  const read = text === undefined ? undefined : parseDonorKeys(text)
  return read && 'value' in read ? read.value : []
}

async function readKeyFile(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(() => undefined)
}

/** Makes the key file, or reads the one that another process makes at the same moment. */
async function makeKeyFile(file: string): Promise<string | undefined> {
  const [id, secret] = [`trial-${randomBytes(4).toString('hex')}`, randomBytes(32).toString('base64')]
  const draft = `${file}.${id}`
  await writeFile(draft, `${id}:${secret}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // A link appears with its whole content, or fails when the file exists.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return await readKeyFile(file)
}
