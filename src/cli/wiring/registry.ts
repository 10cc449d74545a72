import { ServiceError } from '../../kernel/errors.js'
import type { AccessToken } from '../../outbound/registry/access-token.js'
import { wantedDatasets } from '../../outbound/registry/datasets.js'
import type { RegistryDeps } from '../../outbound/registry/register.js'
import type { RegistryHttp } from '../../outbound/registry/registry-http.js'
import { findRegistryRecord, type RegistryStatus, registryStatus } from '../../outbound/registry/registry-record.js'
import type { Config, RegistryConfig, Secrets } from '../../platform/config/config.js'
import type { Store } from '../../platform/database/store.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'

type RegistryRuntime = {
  readonly config: Pick<Config, 'registry'>
  readonly secrets: Secrets
  readonly feedsDir: string
}

/**
 * Does work at the registry as it is configured, for the live release; with `dryRun` calls that change something are only
 * noted. Throws `configuration-invalid` without REGISTRY_URL, `release-missing` before the first release.
 */
export async function usingRegistry<Outcome>(
  { config: { registry }, secrets, feedsDir }: RegistryRuntime,
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
    import('../../outbound/registry/registry-http.js'),
    import('../../outbound/registry/registry-client.js'),
  ])
  await using http = new RegistryHttp()
  const token = await openToken(registry.account, secrets, http)
  const client = new RegistryClient({ http, url: registry.url, token, dryRun })
  return await work({ client, settings: registry, paths: live.manifest.files.map(({ path }) => path) })
}

/** What is known of the registry without asking it. */
export async function findRegistryStatus(
  { db }: Store,
  settings: RegistryConfig,
  live: ReadableRelease | undefined,
): Promise<RegistryStatus> {
  const paths = live?.manifest.files.map(({ path }) => path) ?? []
  const codes = wantedDatasets(settings, paths).map(({ code }) => code)
  return registryStatus(await findRegistryRecord(db), codes)
}

async function openToken(
  account: RegistryConfig['account'],
  { registryClientSecret = '', registryToken = '' }: Secrets,
  http: RegistryHttp,
): Promise<AccessToken> {
  const { tokenOfClient, tokenOfFile } = await import('../../outbound/registry/access-token.js')
  if (account.kind === 'client') return tokenOfClient(http, { ...account, clientSecret: registryClientSecret })
  return account.file === undefined ? async () => registryToken : tokenOfFile(account.file)
}
