import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseIsoDate } from '../kernel/dates.js'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import { escapeInvisible } from '../kernel/invisible-characters.js'
import { wholeNumberIn } from '../kernel/values.js'
import type { ConfigField, Environment } from '../platform/config/config.js'
import { processNumber } from '../platform/config/environment.js'
import { createOutput, type Output, type PrintedStreams } from './output.js'
import type { OpeningServer, ServiceName } from './wiring/first-steps.js'
import type { Runtime, RuntimeOptions } from './wiring/runtime.js'

/** The process that a command runs in. */
export type HostProcess = PrintedStreams & {
  readonly environment: Environment
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal
}

/** A row that was looked for. Throws `not-found` where there is none. */
export function orNotFound<Row>(row: Row | undefined, message: string): Row {
  if (row === undefined) throw new ServiceError('not-found', message)
  return row
}

/** Adds a command that prints a result. */
export function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent.command(nameAndArguments).description(description).option('--json', 'print the result as JSON')
}

/** Adds a command that may take minutes. A bar in a terminal shows how far it is; elsewhere lines do, for whoever asks. */
export function addLongCommand(...[parent, nameAndArguments, description]: Parameters<typeof addCommand>): Command {
  const meaning = 'say every 5 s on standard error how far the work is; a terminal shows it always'
  return addCommand(parent, nameAndArguments, description).option('--progress', meaning)
}

/** What a command file needs to register its commands. */
export class CommandLine {
  readonly environment: Environment
  readonly signal: AbortSignal
  readonly stdin: HostProcess['stdin']
  readonly #host: HostProcess
  #exitCode = 0
  #server: OpeningServer | undefined

  constructor(host: HostProcess) {
    this.environment = host.environment
    this.signal = host.signal
    this.stdin = host.stdin
    this.#host = host
  }

  get exitCode(): number {
    return this.#exitCode
  }

  /** A command's action for commander; `work` gets the output, arguments and options, and returns the exit code. */
  readonly action =
    <Given extends unknown[]>(work: (output: Output, ...given: Given) => Promise<number>) =>
    async (...given: [...Given, ...unknown[]]): Promise<void> => {
      const command = given.at(-1) as { optsWithGlobals(): { json?: boolean; progress?: boolean } }
      const { json = false, progress = false } = command.optsWithGlobals()
      const output = createOutput(this.#host, json, progress)
      this.#exitCode = await work(output, ...(given as unknown as Given))
    }

  /**
   * The same for work on the store: reads the needed fields of the configuration, opens the store, and closes everything at the
   * end. The modules of the store are loaded here, since loading them takes as long as a short command.
   */
  readonly storeAction = <Given extends unknown[]>(
    needed: readonly ConfigField[],
    work: (runtime: Runtime, output: Output, ...given: Given) => Promise<number>,
    options?: RuntimeOptions,
  ) =>
    this.action(async (output, ...given: Given) => {
      try {
        const { openRuntime } = await import('./wiring/runtime.js')
        await using runtime = await openRuntime(this.environment, needed, {
          signal: this.signal,
          note: output.note,
          server: this.#server,
          ...options,
        })
        return await work(runtime, output, ...given)
      } catch (error) {
        // A service was stopped while it waited for the database: that is no failure.
        if (options?.waits && this.signal.aborted && toServiceError(error).code === 'aborted') return 0
        throw error
      }
    })

  /** The action of a service, whose modules are loaded once it has said what it is, while its own server opens. */
  readonly serviceAction =
    <Given extends unknown[]>(serves: ServiceName, load: () => Promise<(...given: Given) => Promise<void>>) =>
    async (...given: Given): Promise<void> => {
      const { holdYoungGeneration } = await import('./wiring/young-generation.js')
      holdYoungGeneration()
      if (processNumber(this.environment) === undefined) {
        const { beginService } = await import('./wiring/first-steps.js')
        this.#server = beginService(this.environment, serves, createOutput(this.#host, false).note, this.signal)
      }
      await using server = this.#server
      // Modules that are loaded hold up the steps until then.
      await server?.isWaiting
      await (await load())(...given)
    }

  /** The same process with this environment. */
  readonly within = (environment: Environment): CommandLine => new CommandLine({ ...this.#host, environment })

  /** The person at the terminal, who can be asked; undefined where there is none. Throws `aborted` when they leave. */
  readonly openTerminal = async () => {
    const { stdin, stderr } = this.#host
    if (!stdin.isTTY) return undefined
    let isHidden = false
    // What is typed is shown by the interface, on its output.
    const output = new Writable({
      write: (chunk, _encoding, done) => (isHidden ? done() : void stderr.write(chunk, done)),
    })
    const lines = createInterface({ input: stdin, output, terminal: true })
    const left = new AbortController()
    lines.once('close', () => left.abort())
    lines.once('SIGINT', () => lines.close())
    const signal = AbortSignal.any([left.signal, this.signal])
    return {
      ask: async (question: string, hidesAnswer = false): Promise<string> => {
        if (hidesAnswer) stderr.write(question)
        isHidden = hidesAnswer
        try {
          return await lines.question(hidesAnswer ? '' : question, { signal })
        } catch {
          throw new ServiceError('aborted', 'nothing was written')
        } finally {
          if (hidesAnswer) stderr.write('\n')
          isHidden = false
        }
      },
      say: (message: string) => void stderr.write(`${escapeInvisible(message)}\n`),
      [Symbol.asyncDispose]: async () => lines.close(),
    }
  }

  /** Reads a password or a key: every user of the machine can read arguments, nobody else standard input. */
  readonly readSecret = async (): Promise<string> => (await text(this.#host.stdin)).replace(/\r?\n$/, '')
}

/** A reader of arguments and options; commander says what was expected. */
export function argument<T>(expected: string, parse: (raw: string) => T | undefined): (raw: string) => T {
  return (raw) => {
    const value = parse(raw)
    if (value === undefined) throw new InvalidArgumentError(`expected ${expected}`)
    return value
  }
}

export const isoDay = argument('a day such as 2026-11-01', parseIsoDate)

export const wholeNumber = argument('a whole number of at least 1', wholeNumberIn(1, 999_999_999).parse)

const durationUnits: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** The seconds of a duration such as 90s or 10h of at most 68 years, which the store can count; undefined for any other text. */
export function parseDuration(raw: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(raw) ?? []
  const seconds = Number(amount) * (durationUnits[unit ?? ''] ?? 0)
  return seconds > 0 && seconds < 2 ** 31 ? seconds : undefined
}

export const durationSeconds = argument('a duration such as 90s, 30m, 10h or 7d, of at most 24855d', parseDuration)

/** An option with a duration; the help shows its default as it is written. */
export function durationOption(flags: string, description: string, fallback: string): Option {
  return new Option(flags, description).argParser(durationSeconds).default(parseDuration(fallback), fallback)
}
