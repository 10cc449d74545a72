import type { Command } from 'commander'
import { addCommand, type CommandLine } from '../command-line.js'
import { testAlarm } from '../wiring/operator-actions.js'

/** `giving test-alarm`. */
export function registerTestAlarm(program: Command, { storeAction }: CommandLine): void {
  addCommand(program, 'test-alarm', 'let a worker send a test alarm to ALERT_MAIL_TO and ALERT_WEBHOOK_URL').action(
    storeAction(['alerts'], async (runtime, output) => {
      await testAlarm(runtime)
      return output.result(
        { asked: true },
        () => 'a worker sends it within a minute; the console says what became of it',
      )
    }),
  )
}
