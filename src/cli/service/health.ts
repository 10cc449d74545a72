import { Argument, type Command } from 'commander'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { toServiceError } from '../../kernel/errors.js'
import { readConfig } from '../../platform/config/config.js'
import { askStatus, reasonOf } from '../../platform/outgoing/http-client.js'
import type { CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { listeningUrl } from '../wiring/listening.js'
import { openRuntime } from '../wiring/runtime.js'

const processes = ['api', 'worker'] as const

/** `giving health`: run beside a process, in its environment, by what supervises it. */
export function registerHealth(program: Command, commandLine: CommandLine): void {
  program
    .command('health')
    .description('check whether the API of this machine answers, or a worker is alive; exit code 1 when not')
    .addArgument(
      new Argument(
        '[process]',
        'api: it answers /healthz; worker: database and queue answer, and the queue sees a live worker',
      )
        .choices(processes)
        .default(processes[0]),
    )
    .action(
      commandLine.action((output, process: (typeof processes)[number]) =>
        process === 'api' ? askApi(commandLine, output) : askQueue(commandLine, output),
      ),
    )
}

const answerMs = 5_000

async function askApi({ environment, signal }: CommandLine, output: Output): Promise<number> {
  const config = readConfig(environment, ['host', 'port', 'tls'])
  const url = `${listeningUrl(config, config.port)}/healthz`
  try {
    // The certificate is for the public name.
    const status = await askStatus(url, { totalMs: answerMs, signal, rejectUnauthorized: false })
    output.line(`${url}: ${status}`)
    return status === 200 ? 0 : 1
  } catch (error) {
    output.line(`${url}: ${reasonOf(error)}`)
    return 1
  }
}

async function askQueue({ environment, signal }: CommandLine, output: Output): Promise<number> {
  readConfig(environment)
  try {
    await using runtime = await openRuntime(environment, ['queue'], { signal, migrate: false })
    const { config, databaseUrl, log } = runtime
    await using queue = await openQueue(queueSettings({ config, databaseUrl }), log)
    const workers = await queue.liveWorkers('publish')
    output.line(`live workers: ${workers}`)
    return workers > 0 ? 0 : 1
  } catch (error) {
    output.line(toServiceError(error).message)
    return 1
  }
}
