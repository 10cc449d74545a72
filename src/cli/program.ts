import { Command, CommanderError, Help, type Option } from 'commander'
import { errorKinds, ServiceError, toServiceError } from '../kernel/errors.js'
import { escapeInvisible } from '../kernel/invisible-characters.js'
import { isErrno } from '../kernel/system-errors.js'
import { version } from '../platform/config/own-package.js'
import { CommandLine, type HostProcess } from './command-line.js'
import { createOutput } from './output.js'
import { registrationsFor } from './registrations.js'

/** The exit code of a command that could not do its work at all; lower codes are each command's own. */
const failed = 2

/** Runs one command line and returns its exit code. */
export async function runProgram(args: readonly string[], host: HostProcess): Promise<number> {
  const commandLine = new CommandLine(host)
  try {
    const registrations = await registrationsFor(args[0])
    await createProgram(host, commandLine, registrations).parseAsync(args, { from: 'user' })
    return commandLine.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : failed
    printFailure(error, host)
    return failed
  }
}

/** `giving` with these commands; a command inherits how the program prints and fails. */
function createProgram(
  { stdout, stderr }: HostProcess,
  commandLine: CommandLine,
  registrations: Awaited<ReturnType<typeof registrationsFor>>,
): Command {
  const program = new Command('giving')
    .description('Publishes a giving platform as IATI 2.03 and Atom, and serves its API')
    .version(version)
    .showHelpAfterError()
    .exitOverride()
    .configureHelp({ visibleOptions: ownOptionsFirst })
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(escapeLines(text)) })
    .addHelpText('after', '\nExit codes: 0 done, 1 done but something needs a look (see each command), 2 failed.')
  for (const register of registrations) register(program, commandLine)
  return program
}

/** The options of a command, with those that many commands have at the end. */
function ownOptionsFirst(this: Help, command: Command): Option[] {
  const common = ['--json', '--help']
  const placeOf = ({ long }: Option) => common.indexOf(long ?? '')
  return Help.prototype.visibleOptions.call(this, command).sort((a, b) => placeOf(a) - placeOf(b))
}

/** Commander's messages repeat the arguments, which may come from outside. */
function escapeLines(text: string): string {
  return text.split('\n').map(escapeInvisible).join('\n')
}

/** True for a file that somebody named and that cannot be there: it stays so. */
function isWrongPlace(error: unknown): boolean {
  return error instanceof Error && isErrno(error.cause, 'ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EACCES', 'EROFS')
}

/** One line for a failure; the stack only for a defect of this program. */
function printFailure(error: unknown, host: HostProcess): void {
  const { note } = createOutput(host, false)
  const { message, code } = toServiceError(error)
  note(`giving: ${message}`)
  if (error instanceof Error && !(error instanceof ServiceError)) {
    for (const line of error.stack?.split('\n') ?? []) note(line)
  } else if (errorKinds[code].remedy === 'retry' && !isWrongPlace(error)) note(`(${code}: trying again may help)`)
}
