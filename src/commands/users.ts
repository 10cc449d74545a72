import { createApiUser } from '../api/operations/create-api-user.js'
import { createPasswordHashing } from '../api/passwords.js'
import type { Environment } from '../config/config.js'
import type { Output } from './output.js'
import { openRuntime } from './runtime.js'

/** `giving users create`: creates an account with its first API key, which is shown once. */
export async function createUserCommand(
  environment: Environment,
  options: { readonly email: string; readonly password: string; readonly tokenTimeoutSeconds: number | undefined },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { email, password } = options
  const tokenTimeoutSeconds = options.tokenTimeoutSeconds ?? runtime.config.tokenTimeoutHours * 3600
  const { apiKey } = await createApiUser(
    { store: runtime.store, clock: runtime.clock, passwords: createPasswordHashing() },
    { email, password, tokenTimeoutSeconds },
  )
  output.line(output.json ? JSON.stringify({ apiKey }) : `API key (shown only now): ${apiKey}`)
  return 0
}
