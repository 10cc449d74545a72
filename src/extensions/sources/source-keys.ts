import path from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { errnoOf } from '../../kernel/system-errors.js'
import type { Config } from '../../platform/config/config.js'
import { keysIn, makeKeyFile, readKeyFile } from '../../platform/files/key-file.js'
import type { SourceKeys } from './sealed-place.js'

/** The keys of addresses of sources: DONOR_KEYS, else a key file of the data directory, which is made when it is first needed. */
export async function openSourceKeys({ dataDir, secrets }: Pick<Config, 'dataDir' | 'secrets'>): Promise<SourceKeys> {
  const given = keysIn(secrets.donorKeys)
  const file = path.join(dataDir, 'source-keys')
  const inFile = keysIn(await readKeyFile(file))
  return {
    known: [...given, ...inFile],
    isShared: given.length > 0,
    current: async () => {
      const [first = await makeFirst(file)] = [...given, ...inFile]
      return first
    },
  }
}

async function makeFirst(file: string) {
  try {
    const [made] = keysIn(await makeKeyFile(file, 'sources'))
    if (made) return made
    throw new Error('it has no key')
  } catch (error) {
    const reason = errnoOf(error) ?? 'unknown'
    const message = `what follows the ? of an address cannot be kept as a secret: DONOR_KEYS is not set, and the key file ${file} cannot be written (${reason})`
    throw new ServiceError('configuration-invalid', message)
  }
}
