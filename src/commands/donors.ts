import type { Environment } from '../config/config.js'
import { eraseDonor } from '../store/donations/donors.js'
import type { Output } from './output.js'
import { openRuntime } from './runtime.js'

/** `giving donors erase`: exit code 1 when nobody with this e-mail is known. */
export async function eraseDonorCommand(environment: Environment, email: string, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const donations = await eraseDonor(runtime.store.db, email)
  output.line(
    output.json
      ? JSON.stringify({ donations })
      : donations > 0
        ? `erased what was known of this person from ${donations} donations; no total has changed`
        : 'nobody with this e-mail is known',
  )
  return donations > 0 ? 0 : 1
}
