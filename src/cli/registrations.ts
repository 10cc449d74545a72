import type { Command } from 'commander'
import type { CommandLine } from './command-line.js'

/** Adds the commands of one file to the program. */
type Register = (program: Command, commandLine: CommandLine) => void

/** The commands of each file, in the order of the help text. */
const files: readonly (readonly [names: readonly string[], load: () => Promise<Register>])[] = [
  [['start', 'api'], async () => (await import('./services.js')).registerServices],
  [['worker'], async () => (await import('./worker.js')).registerWorker],
  [['migrate'], async () => (await import('./migrate.js')).registerMigrate],
  [['status'], async () => (await import('./status.js')).registerStatus],
  [['doctor'], async () => (await import('./doctor.js')).registerDoctor],
  [['health'], async () => (await import('./health.js')).registerHealth],
  [['import'], async () => (await import('./import.js')).registerImport],
  [['export'], async () => (await import('./export.js')).registerExport],
  [['seed', 'reset-demo'], async () => (await import('./demo-data.js')).registerDemoData],
  [['publish'], async () => (await import('./publish.js')).registerPublish],
  [['schedules'], async () => (await import('./schedules.js')).registerSchedules],
  [['sync'], async () => (await import('./sync.js')).registerSync],
  [['validate'], async () => (await import('./validate.js')).registerValidate],
  [['releases'], async () => (await import('./releases.js')).registerReleases],
  [['registry'], async () => (await import('./registry.js')).registerRegistry],
  [['verify'], async () => (await import('./verify.js')).registerVerify],
  [['held'], async () => (await import('./held.js')).registerHeld],
  [['projects'], async () => (await import('./projects.js')).registerProjects],
  [['organizations'], async () => (await import('./organisations.js')).registerOrganisations],
  [['donations'], async () => (await import('./donations.js')).registerDonations],
  [['donors'], async () => (await import('./donors.js')).registerDonors],
  [['disbursements'], async () => (await import('./disbursements.js')).registerDisbursements],
  [['books', 'ledger'], async () => (await import('./books.js')).registerBooks],
  [['payments'], async () => (await import('./payments.js')).registerPayments],
  [['themes'], async () => (await import('./themes.js')).registerThemes],
  [['standard'], async () => (await import('./standard.js')).registerStandard],
  [['users'], async () => (await import('./users.js')).registerUsers],
  [['keys'], async () => (await import('./keys.js')).registerKeys],
  [['maintenance'], async () => (await import('./maintenance.js')).registerMaintenance],
  [['audit'], async () => (await import('./audit.js')).registerAudit],
  [['completion'], async () => (await import('./completion.js')).registerCompletion],
]

/** What registers the command of this name; what registers all commands for `completion` and for other names, such as `--help`. */
export async function registrationsFor(name: string | undefined): Promise<readonly Register[]> {
  // One command needs a part of the modules only: loading all of them takes most of a second.
  const wanted = files.filter(([names]) => names.some((one) => one === name))
  const needsAll = wanted.length === 0 || name === 'completion'
  return await Promise.all((needsAll ? files : wanted).map(([, load]) => load()))
}
