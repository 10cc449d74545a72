import type { Clock } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Config, RegistryConfig, Secrets } from '../../platform/config/config.js'
import type { Db } from '../../platform/database/connection.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import type { AccessToken } from './access-token.js'
import { type RegistryDeps, registerNew } from './register.js'
import type { RegistryHttp } from './registry-http.js'

type RegistryRuntime = {
  readonly config: Pick<Config, 'registry' | 'secrets'>
  readonly feedsDir: string
}

/**
 * Does work at the registry as it is configured, for the live release; with `dryRun` calls that change something are only
 * noted. Throws `configuration-invalid` without REGISTRY_URL, `release-missing` before the first release.
 */
export async function usingRegistry<Outcome>(
  { config: { registry, secrets }, feedsDir }: RegistryRuntime,
  { dryRun }: { readonly dryRun: boolean },
  work: (deps: RegistryDeps) => Promise<Outcome>,
): Promise<Outcome> {
  if (!registry) {
    const message = 'REGISTRY_URL is not set: expected the API of the IATI registry (docs/how-to/register.md)'
    throw new ServiceError('configuration-invalid', message)
  }
  const live = await createReleaseReader(feedsDir).live()
  if (!live) throw new ServiceError('release-missing', 'nothing has been published yet: run giving publish first')
  // Loaded here: whoever only reads what is recorded of the registry does without them.
  const [{ RegistryHttp }, { RegistryClient }] = await Promise.all([
    import('./registry-http.js'),
    import('./registry-client.js'),
  ])
  await using http = new RegistryHttp()
  const token = await openToken(registry.account, secrets, http)
  const client = new RegistryClient({ http, url: registry.url, token, dryRun })
  return await work({ client, settings: registry, paths: live.manifest.files.map(({ path }) => path) })
}

/** Registers what the live release has that is new, and says what it did. */
export async function registerLive(
  { db, clock, ...runtime }: RegistryRuntime & { readonly db: Db; readonly clock: Clock },
  signal: AbortSignal,
): Promise<string> {
  if (!(await createReleaseReader(runtime.feedsDir).live())) return 'nothing published yet'
  return await usingRegistry(runtime, { dryRun: false }, (deps) => registerNew({ ...deps, db, clock }, signal))
}

async function openToken(
  account: RegistryConfig['account'],
  secrets: Secrets,
  http: RegistryHttp,
): Promise<AccessToken> {
  const { tokenOfClient, tokenOfFile } = await import('./access-token.js')
  if (account.kind === 'client')
    return tokenOfClient(http, { ...account, clientSecret: secrets.registryClientSecret ?? '' })
  return account.file === undefined ? async () => secrets.registryToken ?? '' : tokenOfFile(account.file)
}
