import path from 'node:path'
import type { CommandLine } from '../../cli/command-line.js'
import { type Finding, fix, good, note } from '../../cli/finding.js'
import { readConfig } from '../../platform/config/config.js'
import { lookAtRegistry } from './register.js'
import { usingRegistry } from './using-registry.js'

/** Asks the registry what it has. */
export async function inspectRegistry({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, ['registry', 'dataDir'])
  if (!config.registry) return [note('REGISTRY_URL is not set: nothing is registered', 'docs/how-to/register.md')]
  const runtime = { config, feedsDir: path.join(config.dataDir, 'feeds') }
  const { datasets, publisher } = await usingRegistry(runtime, { dryRun: false }, (deps) =>
    lookAtRegistry(deps, signal),
  )
  const inState = (state: string) => datasets.filter((dataset) => dataset.state === state)
  const names = (state: string) => inState(state).map(({ fields }) => fields.short_name)
  const findings = [good(`${config.registry.url} answers; datasets: ${names('registered').length}`)]
  if (publisher.metadata.registry_approved === false)
    findings.push(
      note('the registry has not approved the publisher yet', 'ask the IATI support (docs/how-to/register.md)'),
    )
  if (names('missing').length > 0)
    findings.push(fix(`not registered: ${names('missing').join(', ')}`, 'giving registry register'))
  if (names('different').length > 0)
    findings.push(fix(`differ in the registry: ${names('different').join(', ')}`, 'giving registry sync'))
  return findings
}
