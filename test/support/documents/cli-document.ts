import { PassThrough, Readable } from 'node:stream'
import { type Argument, Command, type Option } from 'commander'
import { CommandLine } from '../../../src/cli/command-line.js'
import { registrationsFor } from '../../../src/cli/registrations.js'

const heading = `# Commands

\`npm run giving -- COMMAND\`, or \`giving COMMAND\` where the package is installed. Every command has \`--help\`. This page is written from
the program by \`npm run docs:cli\`; a test compares both.

A command whose reader goes away (\`giving themes list | head -1\`) still does its work and ends with its own exit code; a service keeps
serving. The first SIGINT or SIGTERM stops a command in order, a second one ends it at once.

| Exit code | Means |
|---|---|
| 0 | done |
| 1 | done, but something needs a look: each command says what |
| 2 | failed; also wrong arguments and a wrong configuration |
| 130, 143 | ended by a second SIGINT or SIGTERM |

With \`--json\` a command prints its result as JSON.

`

/** What the help of a command leaves to a page, or has no room for. */
const notes: Readonly<Record<string, string>> = {
  start: 'Variables of this and of every other command: [configuration](reference/configuration.md).',
  api: 'Any number of these processes may run on one database.',
  worker: 'Any number of these processes may run on one database; one may be several processes under one supervisor.',
  migrate: 'What plain SQL may write: [plain SQL](reference/store.md).',
  status: 'What to do when it needs a person: [alerts](how-to/alerts.md).',
  health: 'For containers and supervisors.',
  import: 'Kinds of records, their forms and fields: [import](reference/import.md).',
  export: 'What is written, and how it comes back: [export](reference/export.md).',
  publish: 'Without `--wait` and `--inline` the run is only entered.',
  sync: 'What a sync does: [sync](explanation/sync.md).',
  validate: `Needs no database, and at most 256 MB of memory whatever the size of a file. The official XSD is checked too where
\`giving standard pull\` or \`IATI_STANDARD_DIR\` has provided it.`,
  registry: 'How a publisher comes to the registry: [register](how-to/register.md).',
  verify:
    'Manifest, hashes, sizes, age and order, and with `--key` signatures: [sign releases](how-to/sign-releases.md).',
  held: 'What to do about a notice: [notices](reference/notices.md).',
  projects: 'The states: [project state](how-to/project-state.md).',
  organizations: 'What vetting does: [project state](how-to/project-state.md).',
  donations: 'Refunds, receipts and their mails: [refunds](how-to/refund.md).',
  donors: 'What is kept of donors: [donors](how-to/donors.md).',
  books: 'What agrees with what: [the books differ](how-to/books-differ.md).',
  payments: 'Each processor and its settings: [payment gateways](reference/payments.md).',
  users: 'What accounts may do in the API: [accounts](reference/accounts.md).',
  audit: 'What is entered: [the audit trail](reference/audit.md).',
}

/** The text of `docs/cli.md`. */
export async function cliDocument(): Promise<string> {
  const program = new Command('giving')
  const nowhere = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: Readable.from([]) }
  const commandLine = new CommandLine({ ...nowhere, environment: {}, signal: new AbortController().signal })
  for (const register of await registrationsFor(undefined)) register(program, commandLine)
  const unknown = Object.keys(notes).filter((name) => !program.commands.some((command) => command.name() === name))
  if (unknown.length > 0) throw new Error(`notes of commands that do not exist: ${unknown.join(', ')}`)
  const index = program.commands.map(
    (command) => `- [\`${command.name()}\`](#giving-${command.name()}): ${aboutOf(command)}`,
  )
  return `${heading}${index.join('\n')}\n\n${program.commands.map((command) => section(command, 'giving')).join('\n')}`
}

/** A command, then its subcommands, one level deeper. */
function section(command: Command, parent: string, level = 2): string {
  const help = command.createHelp()
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== 'help')
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help')
  const rows = [
    ...command.registeredArguments.filter(({ description }) => description !== '').map(argumentRow),
    ...options.filter(({ long }) => long !== '--json').map(optionRow),
  ]
  const note = level === 2 ? notes[command.name()] : undefined
  // A group of commands does nothing by itself.
  const acts = subcommands.length === 0 || rows.length > 0
  const about = [sentence(aboutOf(command)), note, acts ? `Exit codes: ${exitCodes(command)}.` : undefined]
  const blocks = [
    `${'#'.repeat(level)} ${parent} ${command.name()}`,
    about.filter((part) => part !== undefined).join(' '),
    ...(acts ? [`\`\`\`\n${usage(command, options)}\n\`\`\``] : []),
    ...(rows.length > 0 ? [['| Argument or option | Means | Default |', '|---|---|---|', ...rows].join('\n')] : []),
  ]
  const inner = subcommands.map((one) => `\n${section(one, `${parent} ${command.name()}`, level + 1)}`)
  return `${blocks.join('\n\n')}\n${inner.join('')}`
}

/** The usage of the help, with `[--json]` in place of the options where there is no other. */
function usage(command: Command, options: readonly Option[]): string {
  const has = (isJson: boolean) => options.some(({ long }) => (long === '--json') === isJson)
  const shown = [...(has(false) ? [' [options]'] : []), ...(has(true) ? [' [--json]'] : [])].join('')
  return command.createHelp().commandUsage(command).replace(' [command]', '').replace(' [options]', shown)
}

function argumentRow(argument: Argument): string {
  return row(argument.name(), argument.description, argument.argChoices, argument.defaultValue)
}

function optionRow({ flags, description, argChoices, defaultValue, ...option }: Option): string {
  return row(
    flags,
    description,
    argChoices,
    option.mandatory ? 'required' : (option.defaultValueDescription ?? defaultValue),
  )
}

function row(flags: string, description: string, choices: readonly string[] | undefined, given: unknown): string {
  const about =
    choices === undefined ? description : [description, `one of ${choices.join(', ')}`].filter(Boolean).join('; ')
  const cells = [`\`${flags}\``, about, given === undefined || given === false ? '' : String(given)]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const codeOne = /[;,] exit code 1 (when|if) (.+?)(?:, 2 when (.+))?$/

/** What a command does, without what its exit codes are. */
function aboutOf(command: Command): string {
  return command.description().replace(codeOne, '')
}

/** The help says when a command ends with 1, and of some also when with 2. */
function exitCodes(command: Command): string {
  const [, word = '', looks, fails] = codeOne.exec(command.description()) ?? []
  const ofOptions = command.options.flatMap(({ long, description }) => {
    const [, when, what] = codeOne.exec(description) ?? []
    return what === undefined ? [] : [`1 with \`${long}\` ${when} ${what}`]
  })
  const one = looks === undefined ? [] : [`1 ${word} ${looks}`]
  return ['0', ...one, ...ofOptions, fails === undefined ? '2' : `2 when ${fails}`].join(', ')
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
