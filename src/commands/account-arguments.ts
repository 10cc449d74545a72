import { Argument, type Command } from 'commander'
import type { Environment } from '../config/config.js'
import { type Grant, grants } from '../store/access/account-administration.js'
import { issueKeyCommand, listKeysCommand, revokeKeyCommand } from './keys.js'
import { maintenanceCommand } from './maintenance.js'
import type { Output } from './output.js'
import { changeUserCommand, createUserCommand, listUsersCommand, type UserChange } from './users.js'

/** What the command line hands to the commands of accounts: their group's command, and how a command is run. */
export type Arguments = {
  readonly environment: Environment
  readonly run: <Options>(
    work: (options: Options, output: Output) => Promise<number>,
  ) => (options: Options & { json?: boolean }) => Promise<void>
  readonly wholeNumber: (raw: string) => number
  readonly durationSeconds: (raw: string) => number
  /** Reads a password or a key: they never come as arguments, which every user of the machine can read. */
  readonly readSecret: () => Promise<string>
}

type ByEmail = { email: string }

/** The commands of `giving users`. */
export function addUserCommands(users: Command, { environment, run, durationSeconds, readSecret }: Arguments): void {
  addCommand(users, 'create', 'create an API user with a first API key, which is shown once')
    .requiredOption(...emailOption)
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option('--token-timeout <duration>', 'lifetime of access tokens, such as 10h', durationSeconds)
    .action(
      run<ByEmail & { tokenTimeout?: number }>(async ({ email, tokenTimeout }, output) => {
        const password = await readSecret()
        return await createUserCommand(environment, { email, password, tokenTimeoutSeconds: tokenTimeout }, output)
      }),
    )
  addCommand(users, 'list', 'every API user and what it may do').action(
    run((_, output) => listUsersCommand(environment, output)),
  )

  const change = (name: UserChange['change'], description: string) =>
    addCommand(users, name, description).requiredOption(...emailOption)
  change('timeout', 'change how long the access tokens of a user live')
    .requiredOption('--token-timeout <duration>', 'lifetime, such as 10h', durationSeconds)
    .action(
      run<ByEmail & { tokenTimeout: number }>(({ email, tokenTimeout }, output) =>
        changeUserCommand(environment, { email, change: 'timeout', seconds: tokenTimeout }, output),
      ),
    )
  change('password', 'give a user a new password')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .action(
      run<ByEmail>(async ({ email }, output) => {
        const password = await readSecret()
        return await changeUserCommand(environment, { email, change: 'password', password }, output)
      }),
    )
  for (const [name, description] of [
    ['grant', 'let a user do more than read; look first whose e-mail it really is'],
    ['revoke-grant', 'take a grant back, at once'],
  ] as const) {
    change(name, description)
      .addArgument(new Argument('<operation>', 'what is granted').choices(grants))
      .action((grant: Grant, options: ByEmail & { json?: boolean }) =>
        run<ByEmail>(({ email }, output) => changeUserCommand(environment, { email, change: name, grant }, output))(
          options,
        ),
      )
  }
  for (const [name, description] of [
    ['disable', 'refuse everything of a user'],
    ['enable', 'make a disabled user what it was'],
  ] as const) {
    change(name, description).action(
      run<ByEmail>(({ email }, output) => changeUserCommand(environment, { email, change: name }, output)),
    )
  }
}

/** The commands of `giving keys`. */
export function addKeyCommands(keys: Command, { environment, run, wholeNumber, readSecret }: Arguments): void {
  addCommand(keys, 'issue', 'issue one more key, which is shown once')
    .requiredOption(...emailOption)
    .action(run<ByEmail>(({ email }, output) => issueKeyCommand(environment, email, output)))
  addCommand(keys, 'list', 'the keys by number')
    .option(...emailOption)
    .action(run<Partial<ByEmail>>((options, output) => listKeysCommand(environment, options, output)))
  addCommand(keys, 'revoke', 'end a key and its tokens; exit code 1 when there is no such key')
    .option('--id <number>', 'its number in the list', wholeNumber)
    .option('--key-stdin', 'read the key itself from standard input', false)
    .action(
      run<{ id?: number; keyStdin: boolean }>(async ({ id, keyStdin }, output) => {
        if (keyStdin === (id !== undefined)) keys.error('error: give either --id or --key-stdin')
        const choice = id === undefined ? { text: await readSecret() } : { id }
        return await revokeKeyCommand(environment, choice, output)
      }),
    )
}

/** The commands of `giving maintenance`. */
export function addMaintenanceCommands(maintenance: Command, { environment, run, wholeNumber }: Arguments): void {
  addCommand(maintenance, 'on', 'answer API requests with 503; published files stay readable')
    .requiredOption('--minutes <number>', 'when the API opens again by itself', wholeNumber)
    .action(
      run<{ minutes: number }>(({ minutes }, output) => maintenanceCommand(environment, { to: 'on', minutes }, output)),
    )
  addCommand(maintenance, 'off', 'open the API again').action(
    run((_, output) => maintenanceCommand(environment, { to: 'off' }, output)),
  )
  addCommand(maintenance, 'status', 'tell whether the API is open').action(
    run((_, output) => maintenanceCommand(environment, { to: 'status' }, output)),
  )
}

const emailOption = ['--email <email>', 'e-mail address'] as const

function addCommand(group: Command, name: string, description: string): Command {
  return group.command(name).description(description).exitOverride().option('--json', 'print the result as JSON')
}
