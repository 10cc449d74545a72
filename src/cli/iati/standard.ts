import type { Command } from 'commander'
import { codeListNames, standardOrigin } from '../../iati/standard/index.js'
import { pullStandard } from '../../iati/standard/pull.js'
import {
  compareStandard,
  type PulledStandard,
  readPulledStandard,
  type StandardDifference,
} from '../../iati/standard/pulled.js'
import { createXsdValidator } from '../../iati/validation/index.js'
import { type Environment, readConfig } from '../../platform/config/config.js'
import { type CommandLine, jsonOption } from '../command-line.js'
import type { Output } from '../output.js'
import { officialDirectory, pulledDirectory, schemaFields } from '../wiring/official-schema.js'
import { StandardDownloads } from '../wiring/standard-downloads.js'

/** `giving standard`. */
export function registerStandard(program: Command, { environment, signal, action }: CommandLine): void {
  const standard = program.command('standard').description('the official IATI schemas and code lists')
  standard
    .command('pull')
    .description(
      'download them into the data directory; from then on everything published is also checked by the schema',
    )
    .option('--from <url>', 'a mirror with schemas/NAME.xsd and codelists/NAME.json instead of the public addresses')
    .option(...jsonOption)
    .action(
      action((output, options: { from?: string }) => pullStandardCommand(environment, { ...options, signal }, output)),
    )
  standard
    .command('show')
    .description('tell which version is built in, which was pulled and when, and how they differ')
    .option(...jsonOption)
    .action(action((output) => showStandardCommand(environment, output)))
}

/** `giving standard pull`: exit code 0 done; a failure leaves the files that were there. Needs no database. */
export async function pullStandardCommand(
  environment: Environment,
  { from, signal }: { readonly from?: string; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  const { config } = readConfig(environment, schemaFields)
  const directory = pulledDirectory(config)
  const progress = output.progress()
  await using downloads = new StandardDownloads()
  try {
    const { pulled, absent } = await pullStandard({
      directory,
      now: new Date(),
      signal,
      download: downloads.get,
      verify: verifySchemas,
      onProgress: (done, total) => progress.update('official files', done, total),
      ...(from !== undefined && { from }),
    })
    progress.stop()
    const difference = await compareStandard(directory, pulled)
    output.result({ directory, ...pulled, absent, difference }, () => [
      `pulled ${pulled.files.length} files of version ${pulled.version} into ${directory}`,
      ...(absent.length > 0 ? [`not published there: ${absent.join(', ')}`] : []),
      ...describeDifference(difference),
    ])
    if (!output.json && config.standardDir !== undefined) {
      output.note('IATI_STANDARD_DIR is set: its files are used, not these')
    }
    return 0
  } finally {
    progress.stop()
  }
}

async function verifySchemas(directory: string): Promise<void> {
  const xsd = await createXsdValidator(directory)
  xsd?.dispose()
}

/** `giving standard show`: the built-in data, the pulled files, their difference, and which of them is used. Exit code 0. */
export async function showStandardCommand(environment: Environment, output: Output): Promise<number> {
  const { config } = readConfig(environment, schemaFields)
  const directory = pulledDirectory(config)
  const pulled = await readPulledStandard(directory)
  const difference = pulled && (await compareStandard(directory, pulled))
  const used = officialDirectory(config)
  const builtIn = { ...standardOrigin, codeLists: codeListNames.length }
  output.result({ builtIn, pulled: pulled && { directory, ...pulled, difference }, used }, () => [
    `built in: version ${builtIn.version}, ${builtIn.codeLists} code lists`,
    ...builtIn.sources.map(
      ({ what, repository, commit, date }) => `  ${what}: ${repository} ${commit?.slice(0, 12)} of ${date}`,
    ),
    ...(pulled && difference
      ? describePulled(pulled, difference)
      : ['pulled: nothing (giving standard pull downloads the official files)']),
    `official schema used: ${used ?? 'none, only the built-in checks'}`,
  ])
  return 0
}

function describePulled({ version, pulledAt, files, from }: PulledStandard, difference: StandardDifference): string[] {
  return [
    `pulled: version ${version}, ${files.length} files, at ${pulledAt}`,
    ...from.map((address) => `  from ${address}`),
    ...describeDifference(difference).map((line) => `  ${line}`),
  ]
}

function describeDifference({ schemas, codeLists }: StandardDifference): string[] {
  if (schemas.length === 0 && codeLists.length === 0) return ['the official files agree with the built-in data']
  return [
    ...schemas.map((name) => `${name} differs from the file that the built-in data was made from`),
    ...codeLists.map(
      ({ name, added, gone }) =>
        `code list ${name}: ${added} active codes added, ${gone} removed since the built-in data`,
    ),
  ]
}
