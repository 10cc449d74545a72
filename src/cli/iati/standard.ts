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
import { addCommand, addLongCommand, argument, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { officialDirectory, pulledDirectory, schemaFields } from '../wiring/official-schema.js'
import { isSafeAddress, StandardDownloads } from '../wiring/standard-downloads.js'

/** `giving standard`. */
export function registerStandard(program: Command, { environment, signal, action }: CommandLine): void {
  const standard = program.command('standard').description('the official IATI schemas and code lists')
  addLongCommand(
    standard,
    'pull',
    'download them into the data directory; from then on everything published is also checked by the schema',
  )
    .option(
      '--from <url>',
      'a mirror with schemas/NAME.xsd and codelists/NAME.json instead of the public addresses',
      argument('an https address, or http on this machine', (raw) => (isSafeAddress(raw) ? raw : undefined)),
    )
    .action(action((output, { from }: { from?: string }) => pull(environment, from, signal, output)))
  addCommand(standard, 'show', 'show which version is built in, which was pulled and when, and how they differ').action(
    action((output) => show(environment, output)),
  )
}

/** A failure leaves the files that were there. Needs no database. */
async function pull(
  environment: Environment,
  from: string | undefined,
  signal: AbortSignal,
  output: Output,
): Promise<number> {
  const config = readConfig(environment, schemaFields)
  const directory = pulledDirectory(config)
  await using downloads = new StandardDownloads()
  const { pulled, absent } = await output.withProgress((update) =>
    pullStandard({
      ...{ directory, now: new Date(), signal, download: downloads.get, verify: verifySchemas },
      onProgress: (done, total) => update('official files', done, total),
      ...(from !== undefined && { from }),
    }),
  )
  const difference = await compareStandard(directory, pulled)
  return output.result(
    { directory, ...pulled, absent, difference },
    () => [
      `pulled ${pulled.files.length} files of version ${pulled.version} into ${directory}`,
      ...(absent.length > 0 ? [`not published there: ${absent.join(', ')}`] : []),
      ...describeDifference(difference),
    ],
    { note: config.standardDir !== undefined && 'IATI_STANDARD_DIR is set: its files are used, not these' },
  )
}

async function verifySchemas(directory: string): Promise<void> {
  const xsd = await createXsdValidator(directory)
  xsd?.dispose()
}

/** The built-in data, the pulled files, their difference, and which of them is used. */
async function show(environment: Environment, output: Output): Promise<number> {
  const config = readConfig(environment, schemaFields)
  const directory = pulledDirectory(config)
  const pulled = await readPulledStandard(directory)
  const difference = pulled && (await compareStandard(directory, pulled))
  const used = officialDirectory(config)
  const builtIn = { ...standardOrigin, codeLists: codeListNames.length }
  return output.result({ builtIn, pulled: pulled && { directory, ...pulled, difference }, used }, () => [
    `built in: version ${builtIn.version}, ${builtIn.codeLists} code lists`,
    ...builtIn.sources.map(
      ({ what, repository, commit, date }) => `  ${what}: ${repository} ${commit?.slice(0, 12)} of ${date}`,
    ),
    ...(pulled && difference
      ? describePulled(pulled, difference)
      : ['pulled: nothing (giving standard pull downloads the official files)']),
    `official schema used: ${used ?? 'none, only the built-in checks'}`,
  ])
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
