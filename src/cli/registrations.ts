import { ofExtensions } from '../extensions.js'
import type { CommandFile, Register } from './extension.js'

/** The commands of each file, in the order of the help text. */
const files: readonly CommandFile[] = [
  [['start', 'api', 'worker'], async () => (await import('./service/register-services.js')).registerServices],
  [['database'], async () => (await import('./service/database.js')).registerDatabase],
  [['migrate'], async () => (await import('./service/migrate.js')).registerMigrate],
  [['init'], async () => (await import('./service/init.js')).registerInit],
  [['status'], async () => (await import('./service/status.js')).registerStatus],
  [['doctor'], async () => (await import('./service/doctor.js')).registerDoctor],
  [['test-alarm'], async () => (await import('./service/test-alarm.js')).registerTestAlarm],
  [['health'], async () => (await import('./service/health.js')).registerHealth],
  [['try'], async () => (await import('./catalogue/try.js')).registerTry],
  [['import'], async () => (await import('./catalogue/import.js')).registerImport],
  [['imports'], async () => (await import('./catalogue/imports.js')).registerImports],
  [['recipes'], async () => (await import('./catalogue/recipes.js')).registerRecipes],
  [['export'], async () => (await import('./catalogue/export.js')).registerExport],
  [['backup', 'restore'], async () => (await import('./service/backup.js')).registerBackup],
  [['seed', 'reset-demo'], async () => (await import('./service/demo-data.js')).registerDemoData],
  [['publish'], async () => (await import('./release/publish.js')).registerPublish],
  [['runs'], async () => (await import('./release/runs.js')).registerRuns],
  [['schedules'], async () => (await import('./service/schedules.js')).registerSchedules],
  [['sync'], async () => (await import('./catalogue/sync.js')).registerSync],
  [['validate'], async () => (await import('./iati/validate.js')).registerValidate],
  [['releases'], async () => (await import('./release/releases.js')).registerReleases],
  [['publisher'], async () => (await import('./release/publisher.js')).registerPublisher],
  ...ofExtensions('commands'),
  [['facts'], async () => (await import('./release/facts.js')).registerFacts],
  [['explain'], async () => (await import('./release/explain.js')).registerExplain],
  [['held'], async () => (await import('./release/held.js')).registerHeld],
  [['projects'], async () => (await import('./catalogue/projects.js')).registerProjects],
  [['organizations'], async () => (await import('./catalogue/organisations.js')).registerOrganisations],
  [['donations'], async () => (await import('./money/donations.js')).registerDonations],
  [['donors'], async () => (await import('./money/donors.js')).registerDonors],
  [['reports'], async () => (await import('./catalogue/reports.js')).registerReports],
  [['gifts'], async () => (await import('./money/gifts.js')).registerGifts],
  [['disbursements'], async () => (await import('./money/disbursements.js')).registerDisbursements],
  [['books'], async () => (await import('./money/books.js')).registerBooks],
  [['payments'], async () => (await import('./money/payments.js')).registerPayments],
  [['sandbox'], async () => (await import('./money/sandbox.js')).registerSandbox],
  [['themes'], async () => (await import('./catalogue/themes.js')).registerThemes],
  [['standard'], async () => (await import('./iati/standard.js')).registerStandard],
  [['users'], async () => (await import('./accounts/users.js')).registerUsers],
  [['keys'], async () => (await import('./accounts/keys.js')).registerKeys],
  [['maintenance'], async () => (await import('./service/maintenance.js')).registerMaintenance],
  [['audit'], async () => (await import('./accounts/audit.js')).registerAudit],
  [['completion'], async () => (await import('./completion.js')).registerCompletion],
]

/** The commands of this name: none for `--version`, all for `completion` and for other names, such as `--help`. */
export async function registrationsFor(name: string | undefined): Promise<readonly Register[]> {
  if (name === '--version' || name === '-V') return []
  // Loading the modules of all commands takes most of a second.
  const wanted = files.filter(([names]) => names.some((one) => one === name))
  const needsAll = wanted.length === 0 || name === 'completion'
  return await Promise.all((needsAll ? files : wanted).map(([, load]) => load()))
}
