import { Argument, type Command } from 'commander'
import { Agent, request } from 'undici'
import { openQueue, queueSettings } from '../../jobs/queue.js'
import { toServiceError } from '../kernel/errors.js'
import { readConfig } from '../platform/config/config.js'
import type { CommandLine } from './command-line.js'
import type { Output } from './output.js'
import { listeningUrl } from './wiring/base-url.js'
import { openRuntime } from './wiring/runtime.js'

const processes = ['api', 'worker'] as const

/** `giving health`: run beside a process, in its environment, by what supervises it. */
export function registerHealth(program: Command, commandLine: CommandLine): void {
  program
    .command('health')
    .description('ask whether the API of this machine answers, or workers are alive; exit code 1 when not')
    .addArgument(
      new Argument('[process]', 'worker: database and queue answer, and the queue sees a live worker')
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

async function askApi({ environment }: CommandLine, output: Output): Promise<number> {
  const { config } = readConfig(environment, ['host', 'port', 'tls'])
  const url = `${listeningUrl(config, config.port)}/healthz`
  // The certificate is for the public name.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  try {
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(answerMs) })
    await body.dump()
    output.line(`${url}: ${statusCode}`)
    return statusCode === 200 ? 0 : 1
  } catch (error) {
    output.line(`${url}: ${error instanceof Error ? error.message : error}`)
    return 1
  } finally {
    await dispatcher.close()
  }
}

async function askQueue({ environment, signal }: CommandLine, output: Output): Promise<number> {
  readConfig(environment)
  try {
    await using runtime = await openRuntime(environment, ['queue'], { signal, migrate: false })
    const { config, secrets, databaseUrl, log } = runtime
    await using queue = await openQueue(queueSettings(config, secrets, databaseUrl), log)
    const workers = await queue.liveWorkers('publish')
    output.line(`live workers: ${workers}`)
    return workers > 0 ? 0 : 1
  } catch (error) {
    output.line(toServiceError(error).message)
    return 1
  }
}
