#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { addKeyCommands, addMaintenanceCommands, addUserCommands } from './commands/account-arguments.js'
import { importDisbursementsCommand } from './commands/disbursements.js'
import {
  type DonationListOptions,
  listDonationsCommand,
  refundDonationCommand,
  showDonationCommand,
} from './commands/donations.js'
import { eraseDonorCommand } from './commands/donors.js'
import { importCommand } from './commands/import.js'
import { checkLedgerCommand } from './commands/ledger.js'
import { type Output, terminalOutput } from './commands/output.js'
import { publishCommand } from './commands/publish.js'
import {
  approveReleaseCommand,
  diffReleasesCommand,
  listReleasesCommand,
  rollbackReleaseCommand,
  showReleaseCommand,
} from './commands/releases.js'
import { apiCommand, startCommand, workerCommand } from './commands/services.js'
import { pullStandardCommand, showStandardCommand } from './commands/standard.js'
import { statusCommand } from './commands/status.js'
import { migrateCommand, resetDemoCommand, seedCommand } from './commands/store.js'
import { syncCommand, syncStatusCommand } from './commands/sync.js'
import { listThemesCommand, mapThemeCommand } from './commands/themes.js'
import { validateCommand } from './commands/validate.js'
import { verifyCommand } from './commands/verify.js'
import { processEnvironment } from './config/environment.js'
import { errorCatalogue, ServiceError, toServiceError } from './domain/errors.js'

// The exit code of a command that could not do its work at all; the lower ones are each command's own.
const failure = 2

const stop = new AbortController()
let code = 0

/** Runs a command's work and keeps its exit code. */
function run<Options>(work: (options: Options, output: Output) => Promise<number>) {
  return async (options: Options & { json?: boolean }): Promise<void> => {
    code = await work(options, terminalOutput(options.json ?? false))
  }
}

function wholeNumber(raw: string): number {
  const value = /^\d{1,9}$/.test(raw) ? Number(raw) : 0
  if (value < 1) throw new InvalidArgumentError('expected a whole number of at least 1')
  return value
}

const donationStatuses = ['received', 'settled', 'declined', 'failed', 'refunded']

const durationUnits: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function durationSeconds(raw: string): number {
  const [, amount, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(raw) ?? []
  const seconds = Number(amount) * (durationUnits[unit ?? ''] ?? 0)
  if (!(seconds > 0)) throw new InvalidArgumentError('expected a duration such as 90s, 30m, 10h or 7d')
  return seconds
}

async function readSecret(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

function createProgram(): Command {
  const environment = processEnvironment()
  const program = new Command('giving')
    .description('Publishes a giving platform as IATI 2.03 and Atom, and serves its API')
    .version(version())
    .showHelpAfterError()
    .exitOverride()
    .addHelpText('after', '\nExit codes: 0 done, 1 done but something needs a look (see each command), 2 failed.')
  const command = (nameAndArguments: string, description: string) =>
    program.command(nameAndArguments).description(description).exitOverride()
  const json = ['--json', 'print the result as JSON'] as const

  command('start', 'run everything: database, API, worker; publish at once, then by schedule').action(
    run((_, output) => startCommand(environment, stop.signal, output)),
  )
  command('api', 'run the API process only').action(run((_, output) => apiCommand(environment, stop.signal, output)))
  command('worker', 'run a worker process only').action(
    run((_, output) => workerCommand(environment, stop.signal, output)),
  )
  command('migrate', "bring the database's schema up to date")
    .option('--check', 'only tell what is pending; exit code 1 if anything is', false)
    .option(...json)
    .action(run<{ check: boolean }>((options, output) => migrateCommand(environment, options, output)))
  command('status', 'tell how things are; exit code 1 when something needs a person')
    .option(...json)
    .action(run((_, output) => statusCommand(environment, output)))
  command('import', 'import project pages in the wire format, XML or JSON; exit code 1 when some records were refused')
    .argument('<file...>', 'files, or - for standard input')
    .option('--photo-consent', 'people on the photos have agreed to worldwide publication', false)
    .option(...json)
    .action(async (files: string[], options: { photoConsent: boolean; json?: boolean }) => {
      await run<typeof options>((_, output) =>
        importCommand(environment, files, { ...options, signal: stop.signal }, output),
      )(options)
    })
  command('seed', 'put invented, plausible projects into the store')
    .requiredOption('--projects <number>', 'how many', wholeNumber)
    .option(...json)
    .action(
      run<{ projects: number }>((options, output) =>
        seedCommand(environment, { ...options, signal: stop.signal }, output),
      ),
    )
  command('reset-demo', 'remove demo data and everything published from it')
    .option(...json)
    .action(run((_, output) => resetDemoCommand(environment, output)))
  command('publish', 'publish now; exit code 1 when the release is held, 2 when the run failed')
    .option('--force', 'map every project again, changed or not', false)
    .option('--wait', 'stay until the run has ended', false)
    .option('--inline', 'do the work in this process, without the queue', false)
    .option(...json)
    .action(
      run<{ force: boolean; wait: boolean; inline: boolean }>((options, output) =>
        publishCommand(environment, { ...options, signal: stop.signal }, output),
      ),
    )
  const sync = command('sync', 'mirror UPSTREAM_URL now; exit code 1 when the sync is held, 2 when it failed')
    .option('--full', 'compare the whole catalogue', false)
    .option('--accept-loss', 'take it as it is that the upstream offers much less than before', false)
    .option('--wait', 'stay until the sync has ended', false)
    .option(...json)
    .action(
      run<{ full: boolean; acceptLoss: boolean; wait: boolean }>((options, output) =>
        syncCommand(environment, { ...options, signal: stop.signal }, output),
      ),
    )
  sync
    .command('status')
    .description('the last syncs and how far the mirror is behind; exit code 1 when the last one needs a person')
    .exitOverride()
    .option(...json)
    .action(async (_: unknown, command: Command) => {
      await run<{ json?: boolean }>((_options, output) => syncStatusCommand(environment, output))(
        command.optsWithGlobals(),
      )
    })
  command('validate', "check anyone's IATI 2.03 files; exit code 1 when there are errors, 2 when a file is unusable")
    .argument('<file...>', 'activity or organisation files, or - for standard input')
    .option(...json)
    .action(async (files: string[], options: { json?: boolean }) => {
      await run((_, output) => validateCommand(environment, files, stop.signal, output))(options)
    })
  const releases = command('releases', 'look at releases, approve a held one, go back to an earlier one')
  const ofReleases = (nameAndArguments: string, description: string) =>
    releases
      .command(nameAndArguments)
      .description(description)
      .exitOverride()
      .option(...json)
  ofReleases('list', 'all releases on disk, newest first; exit code 1 when the newest is held').action(
    run((_, output) => listReleasesCommand(environment, output)),
  )
  ofReleases('show <id>', 'one release: files, totals, held activities, history').action(
    async (id: string, options: { json?: boolean }) =>
      await run((_, output) => showReleaseCommand(environment, id, output))(options),
  )
  ofReleases('diff <from> <to>', 'what is different in the second release; exit code 1 when anything is').action(
    async (from: string, to: string, options: { json?: boolean }) =>
      await run((_, output) => diffReleasesCommand(environment, [from, to], output))(options),
  )
  ofReleases('approve <id>', 'make a held release live exactly as it was built')
    .option('--accept-loss', 'give up for ever the published identifiers that it lacks', false)
    .action(async (id: string, options: { acceptLoss: boolean; json?: boolean }) => {
      await run((_, output) => approveReleaseCommand(environment, id, options, output))(options)
    })
  ofReleases('rollback <id>', 'put an earlier release back; it stays until the content changes').action(
    async (id: string, options: { json?: boolean }) =>
      await run((_, output) => rollbackReleaseCommand(environment, id, output))(options),
  )
  command('verify', 'check a published set from outside; exit code 1 when something is wrong, 2 when it cannot be read')
    .argument('<url>', 'address of the service')
    .option('--max-age <duration>', 'how old the set may be, such as 36h', durationSeconds, 36 * 3600)
    .option('--state <file>', 'remember the release, and find one that is older than the last time')
    .option(...json)
    .action(async (url: string, options: { maxAge: number; state?: string; json?: boolean }) => {
      const { maxAge: maxAgeSeconds, state } = options
      const now = new Date()
      await run((_, output) => verifyCommand(url, { maxAgeSeconds, state, now, signal: stop.signal }, output))(options)
    })
  const donations = command('donations', 'donations that were made here')
  donations
    .command('list')
    .description('the newest donations')
    .exitOverride()
    .option('--project <id>', 'only of this project', wholeNumber)
    .addOption(new Option('--status <status>', 'only in this state').choices(donationStatuses))
    .option('--transaction <id>', 'only with this transactionId')
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .option(...json)
    .action(run<DonationListOptions>((options, output) => listDonationsCommand(environment, options, output)))
  donations
    .command('show')
    .description('one donation and all that happened to it')
    .argument('<id>', 'its number', wholeNumber)
    .exitOverride()
    .option(...json)
    .action(async (id: number, options: { json?: boolean }) => {
      await run((_, output) => showDonationCommand(environment, id, output))(options)
    })
  donations
    .command('refund')
    .description('give a donation back, all that is left of it or a part')
    .argument('<id>', 'its number', wholeNumber)
    .exitOverride()
    .option('--amount <amount>', 'a part of it')
    .option('--chargeback', 'the processor has taken the money already: only book it', false)
    .option(...json)
    .action(async (id: number, options: { amount?: string; chargeback: boolean; json?: boolean }) => {
      await run<typeof options>((_, output) => refundDonationCommand(environment, { ...options, id }, output))(options)
    })
  command('donors', 'people who gave')
    .command('erase')
    .description('erase what is known of a person; no total changes; exit code 1 when nobody has this e-mail')
    .exitOverride()
    .requiredOption('--email <email>', 'e-mail address')
    .option(...json)
    .action(run<{ email: string }>(({ email }, output) => eraseDonorCommand(environment, email, output)))
  command('disbursements', 'payouts to partners')
    .command('import')
    .description(
      'import payouts from CSV (project, date, amount, currency, reference); exit code 1 when lines were refused',
    )
    .argument('<file>', 'a CSV file with a header')
    .exitOverride()
    .option(...json)
    .action(async (file: string, options: { json?: boolean }) => {
      await run((_, output) => importDisbursementsCommand(environment, file, output))(options)
    })
  command('ledger', 'the books')
    .command('check')
    .description('prove that donations, months, totals and payouts agree; exit code 1 when they do not')
    .exitOverride()
    .option(...json)
    .action(run((_, output) => checkLedgerCommand(environment, output)))
  const themes = command('themes', 'the platform’s themes and the IATI sectors they stand for')
  themes
    .command('list')
    .description('every theme with its OECD DAC purpose code')
    .exitOverride()
    .option(...json)
    .action(run((_, output) => listThemesCommand(environment, output)))
  themes
    .command('map')
    .description('report a theme under another purpose code from the next publication on')
    .argument('<theme>', 'the id of the theme')
    .argument('<code>', 'an active code of the IATI Sector list, five digits')
    .option('--humanitarian', 'projects of the theme answer to emergencies')
    .option('--no-humanitarian', 'they do not')
    .exitOverride()
    .option(...json)
    .action(async (theme: string, code: string, options: { humanitarian?: boolean; json?: boolean }) => {
      await run<{ humanitarian?: boolean }>(({ humanitarian }, output) =>
        mapThemeCommand(environment, { theme, code, ...(humanitarian !== undefined && { humanitarian }) }, output),
      )(options)
    })

  const standard = command('standard', 'the official IATI schemas and code lists')
  standard
    .command('pull')
    .description(
      'download them into the data directory; from then on everything published is also checked by the schema',
    )
    .exitOverride()
    .option('--from <url>', 'a mirror with schemas/NAME.xsd and codelists/NAME.json instead of the public addresses')
    .option(...json)
    .action(
      run<{ from?: string }>((options, output) =>
        pullStandardCommand(environment, { ...options, signal: stop.signal }, output),
      ),
    )
  standard
    .command('show')
    .description('tell which version is built in, which was pulled and when, and how they differ')
    .exitOverride()
    .option(...json)
    .action(run((_, output) => showStandardCommand(environment, output)))
  const accounts = { environment, run, wholeNumber, durationSeconds, readSecret }
  addUserCommands(command('users', 'API users: accounts and what they may do'), accounts)
  addKeyCommands(command('keys', 'API keys'), accounts)
  addMaintenanceCommands(command('maintenance', 'close the API for a while'), accounts)
  return program
}

/** From the package's own description, two folders above the built file or one above the source. */
function version(): string {
  for (const place of ['../../package.json', '../package.json']) {
    try {
      const description = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version?: string }
      if (description.version) return description.version
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
  return 'unknown'
}

// npm passes a terminal's signal on, so one Ctrl-C may arrive twice; a second one counts only after a while.
const repeatMs = 1500

function listenForSignals(): void {
  let stoppedAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now()
        stop.abort()
      } else if (performance.now() - stoppedAt > repeatMs) {
        process.exit(128 + (signal === 'SIGINT' ? 2 : 15))
      }
    })
  }
}

/** One clear line for a failure; the stack only for a defect of ours. */
function tellFailure(error: unknown): void {
  const failed = toServiceError(error)
  process.stderr.write(`giving: ${failed.message}\n`)
  if (!(error instanceof ServiceError) && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  else if (errorCatalogue[failed.code].remedy === 'retry')
    process.stderr.write(`(${failed.code}: trying again may help)\n`)
}

listenForSignals()
try {
  await createProgram().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : failure
  else {
    tellFailure(error)
    code = failure
  }
}
process.exitCode = code
