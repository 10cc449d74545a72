import path from 'node:path'
import { type Command, Option } from 'commander'
import { type ExportFormat, exportFormats } from '../../catalogue/export/data-package.js'
import { donorNotesCsv, donorNotesHeader } from '../../catalogue/export/donor-notes-csv.js'
import { exportStore } from '../../catalogue/export/export-store.js'
import { exportKinds, type ResourceName } from '../../catalogue/sql/export/resources.js'
import { findProjectState } from '../../catalogue/sql/project-states.js'
import type { IsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { missingKeys } from '../../money/donors/donor-needs.js'
import { type DonorNote, readDonorNotes } from '../../money/donors/donor-notes.js'
import { listSettledDonations } from '../../money/sql/donor-notes.js'
import { countTestDonations } from '../../money/sql/test-donations.js'
import { writeWhole } from '../../platform/files/whole-file.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'
import { addCommand, addLongCommand, type CommandLine, isoDay, orNotFound } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { donorFields, openDonorVault } from '../wiring/donor-vault.js'
import { inPages } from '../wiring/in-pages.js'
import { numberOf } from '../wiring/named-row.js'
import { readingFromStandbys } from '../wiring/replicas.js'
import type { Runtime } from '../wiring/runtime.js'
import { followOnce } from '../wiring/shared-folders.js'

const bomMeaning = 'begin CSV with the mark by which Excel knows UTF-8'

/** `giving export`. */
export function registerExport(program: Command, { storeAction }: CommandLine): void {
  const command = addLongCommand(
    program,
    'export',
    'write the store as files that giving import reads into another one',
  )
    // The subcommand has --since and --bom too, which are read as those of this command.
    .hook('preSubcommand', (own, subcommand) => {
      for (const name of ['since', 'bom']) subcommand.setOptionValue(name, own.getOptionValue(name))
    })
    .argument('<dir>', 'an empty or new folder')
    .addOption(new Option('--kind <kind>', 'only records of this kind; default: all').choices(exportKinds))
    .addOption(
      new Option('--format <format>', 'csv has the columns of giving import, ndjson everything')
        .choices(exportFormats)
        .default('ndjson'),
    )
    .option('--bom', bomMeaning, false)
    .option(
      '--since <day>',
      'only what is dated or has changed on this day or later (UTC); kinds without days are whole',
      isoDay,
    )
    .addOption(
      new Option('--published', 'only what is published: the live IATI files, and every identifier ever published')
        .default(false)
        .conflicts(['kind', 'since', 'withDonors', 'withAccounts']),
    )
    .option('--with-donors', 'single donations and who gave: personal data', false)
    .option('--with-accounts', 'API users with the hashes of their passwords and keys', false)
    .action(storeAction(['bucket', 'readMaxLagSeconds'], exportFiles))
  addCommand(
    command,
    'donations',
    'print as CSV what donors of a project tell its organisation: their notes, and the names of those who signed up',
  )
    .requiredOption('--project <id>', 'number or externalId of the project')
    .option('--bom', bomMeaning, false)
    .requiredOption('--since <day>', 'only donations from this day on, such as 2026-11-01', isoDay)
    .action(storeAction(donorFields, exportDonations))
}

type ExportFlags = {
  readonly kind?: ResourceName
  readonly since?: IsoDate
  readonly published: boolean
  readonly format: ExportFormat
  readonly bom: boolean
  readonly withDonors: boolean
  readonly withAccounts: boolean
}

async function exportFiles(
  runtime: Runtime,
  output: Output,
  directory: string,
  { since, published, format, bom, withDonors, withAccounts, ...flags }: ExportFlags,
): Promise<number> {
  const { store, clock, signal } = runtime
  if (bom && format !== 'csv') throw new ServiceError('request-invalid', '--bom is for --format csv')
  const kind = published ? 'activities' : flags.kind
  const live = published ? await liveRelease(runtime) : undefined
  const details = { donors: withDonors, accounts: withAccounts, ...(kind && { kind }), ...(since && { since }) }
  await auditOperator(runtime, store.db, { action: 'store-exported', details })
  const reads = await readingFromStandbys(runtime)
  const { resources } = await output.withProgress((update) =>
    exportStore(reads, directory, {
      ...{ kind, since, format, bom, donors: withDonors, accounts: withAccounts, clock, signal },
      onProgress: (resource, rows) => update(resource, rows, undefined),
    }),
  )
  const copied = live ? await copyFiles(live, directory) : []
  const tests = withDonors || published ? 0 : await countTestDonations(store.db)
  if (tests > 0) {
    output.note(
      `${tests} donations of a sandbox are in the sums: only --with-donors lets the other store take them out`,
    )
  }
  const files = resources.map(({ schema: _, ...resource }) => resource)
  return output.result({ directory, resources: files, ...(live && { release: live.id, files: copied }) }, () => [
    ...resources.map(({ path, rowCount, bytes }) => `${path}: ${rowCount} records, ${bytes} bytes`),
    ...copied.map(({ name, records, bytes }) => `${name}: ${records} records, ${bytes} bytes`),
  ])
}

async function liveRelease(runtime: Runtime): Promise<ReadableRelease> {
  await followOnce(runtime)
  return orNotFound(await createReleaseReader(runtime.feedsDir).live(), 'nothing is published from this folder')
}

/** Copies the IATI files of a release. */
async function copyFiles(release: ReadableRelease, directory: string) {
  const copied: { readonly name: string; readonly records: number; readonly bytes: number }[] = []
  for (const { path: published, records } of release.manifest.files) {
    if (!/^\/iati\/[^/]+\.xml$/.test(published)) continue
    const name = path.basename(published)
    const { identity } = orNotFound(await release.find(published), `${published} of ${release.id} is missing`)
    copied.push({
      name,
      records,
      ...(await writeWhole(path.join(directory, name), identity.chunks(), { isPrivate: false })),
    })
  }
  return copied
}

async function exportDonations(
  runtime: Runtime,
  output: Output,
  { project: name, since, bom }: { readonly project: string; readonly since: IsoDate; readonly bom: boolean },
): Promise<number> {
  const { db } = runtime.store
  const project = await numberOf(db, 'project', name)
  orNotFound(await findProjectState(db, project), `there is no project ${project}`)
  const vault = await openDonorVault(runtime, { makesKey: false })
  await auditOperator(runtime, db, { action: 'donations-exported', subject: `project ${project}`, details: { since } })
  async function* pages(): AsyncGenerator<readonly DonorNote[]> {
    for await (const page of inPages({}, (range) => listSettledDonations(db, { projectId: project, since }, range))) {
      yield await readDonorNotes(db, vault, page)
    }
  }
  if (output.json) await output.list('donations', pages(), () => '')
  else await output.content(csvTexts(pages(), bom))
  for (const sentence of await missingKeys(db, vault)) output.note(sentence)
  return 0
}

async function* csvTexts(pages: AsyncIterable<readonly DonorNote[]>, bom: boolean): AsyncGenerator<string> {
  yield `${bom ? '\uFEFF' : ''}${donorNotesHeader}`
  for await (const page of pages) yield donorNotesCsv(page)
}
