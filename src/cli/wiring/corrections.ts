import type { Command } from 'commander'
import { changeAsImport } from '../../catalogue/import/one-change.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { userOfProcess } from './audit.js'
import type { Runtime } from './runtime.js'

/** The transaction in which one thing is changed. */
export type Change = { readonly db: Db; readonly runtime: Runtime }

/** One thing that imports bring, as people correct it. */
export type Correctable<Stored extends object, Wanted> = {
  /** The kind of the import that a correction is; also the command. */
  readonly kind: string
  readonly one: string
  /** What names one, such as `<reference>`, and its description. */
  readonly argument: readonly [string, string]
  options(command: Command): Command
  /** Throws `not-found`. */
  find(db: Db, name: string): Promise<Stored>
  describe(stored: Stored, currency: CurrencyCode): string | string[]
  correct(change: Change, stored: Stored, wanted: Wanted): Promise<void>
  remove(change: Change, stored: Stored): Promise<void>
}

/** `show`, `correct` and `remove`, each change an import of its own. */
export function registerCorrections<Stored extends object, Wanted>(
  group: Command,
  { storeAction }: CommandLine,
  thing: Correctable<Stored, Wanted>,
): void {
  const { kind, one, argument, find, describe } = thing
  const print = (output: Output, stored: Stored, { config }: Runtime) =>
    output.result(stored, () => describe(stored, config.currency))
  const change = async (runtime: Runtime, name: string, work: (change: Change) => Promise<void>) => {
    const { store, clock } = runtime
    const what = { name: `giving ${kind} ${name}`, kind }
    return await changeAsImport(store, { clock, operator: userOfProcess() }, what, (db) => work({ db, runtime }))
  }
  addCommand(group, 'show', `show a ${one}`)
    .argument(...argument)
    .action(
      storeAction(['currency'], async (runtime, output, name: string) =>
        print(output, await find(runtime.store.db, name), runtime),
      ),
    )
  thing
    .options(addCommand(group, 'correct', `give a ${one} other values; giving imports undo takes it back`))
    .argument(...argument)
    .hook('preAction', (command) => {
      const named = command.options.map(({ long }) => long).filter((long) => long !== '--json')
      const given = Object.keys(command.opts()).filter((name) => name !== 'json')
      if (given.length === 0) command.error(`error: give at least one of ${named.join(', ')}`)
    })
    .action(
      storeAction(['currency'], async (runtime, output, name: string, wanted: Wanted) => {
        await change(runtime, 'correct', async (at) => await thing.correct(at, await find(at.db, name), wanted))
        return print(output, await find(runtime.store.db, name), runtime)
      }),
    )
  addCommand(group, 'remove', `remove a ${one}; giving imports undo takes it back`)
    .argument(...argument)
    .action(
      storeAction(['currency'], async (runtime, output, name: string) => {
        const removed = await find(runtime.store.db, name)
        const id = await change(runtime, 'remove', (at) => thing.remove(at, removed))
        return output.result({ removed, import: id }, () => `${one} ${name} is removed: giving imports undo ${id}`)
      }),
    )
}
