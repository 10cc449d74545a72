import path from 'node:path'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { errnoOf } from '../../kernel/system-errors.js'
import { DonorVault } from '../../money/donors/donor-vault.js'
import { keysIn, makeKeyFile, readKeyFile } from '../../platform/files/key-file.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that donors' keys use. */
export const donorFields = ['donors', 'reportingOrg'] as const

/**
 * Donors' keys as this runtime is configured. A trial, which publishes under the demo publisher, makes a key of its own in
 * the data directory; `makesKey: false` only reads it. Its donors stay readable after DONOR_KEYS was set.
 */
export async function openDonorVault(
  { config }: Pick<Runtime, 'config'>,
  { makesKey = true }: { readonly makesKey?: boolean } = {},
): Promise<DonorVault> {
  const given = keysIn(config.secrets.donorKeys)
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
    return new DonorVault(keysIn(await makeKeyFile(file, 'trial')))
  } catch (error) {
    const reason = errnoOf(error) ?? 'unknown'
    return new DonorVault([], `the key file ${file} cannot be written (${reason}) and DONOR_KEYS is not set`)
  }
}
