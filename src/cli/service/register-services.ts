import type { Command } from 'commander'
import { type CommandLine, wholeNumber } from '../command-line.js'

/** `giving start`, `giving api` and `giving worker`, which say what they are before their modules are loaded. */
export function registerServices(program: Command, commandLine: CommandLine): void {
  const { serviceAction } = commandLine
  program
    .command('start')
    .description('run everything: database, API, worker; publish at once, then by schedule')
    .action(serviceAction('start', async () => (await import('./services.js')).startAction(commandLine)))
  program
    .command('api')
    .description('run the API process only')
    .action(serviceAction('api', async () => (await import('./services.js')).apiAction(commandLine)))
  program
    .command('worker')
    .description('run a worker process only')
    .option('--processes <n>', 'share the work over this many processes; default: WORKER_PROCESSES', wholeNumber)
    .action(serviceAction('worker', async () => (await import('./worker.js')).workerAction(commandLine)))
}
