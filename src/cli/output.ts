import type { Writable } from 'node:stream'
import { Presets, SingleBar } from 'cli-progress'
import { escapeInvisible, escapeInvisibleInJson } from '../kernel/invisible-characters.js'

/**
 * Where a command writes for people or, with `--json`, for scripts. Invisible characters and those that a terminal obeys
 * are escaped here, for every command.
 */
export type Output = {
  /** A line of the result, on standard output. */
  line(text: string): void
  /** A line about the work, on standard error. */
  note(text: string): void
  /**
   * The result, on standard output: the value as JSON with `--json`, otherwise the lines, and a note about them on standard
   * error. Returns the exit code.
   */
  result(value: unknown, lines: () => string | readonly string[], ending?: Ending): number
  /**
   * A long list, on standard output, a page at a time: with `--json` one object whose only member is named `name`, otherwise
   * a line for each row, or the note `none`. Waits for a slow reader and stops when the reader has gone. Returns exit code 0.
   */
  list<Row>(
    name: string,
    pages: AsyncIterable<readonly Row[]>,
    describe: (row: Row) => string,
    none?: string,
  ): Promise<number>
  /** Content for a file, on standard output, as it is; in a terminal invisible characters are escaped. */
  content(texts: AsyncIterable<string>): Promise<void>
  /** Does long work and shows its progress on standard error: in a terminal, or where lines are asked for; with `--json` never. */
  withProgress<Done>(work: (update: ProgressDisplay['update']) => Promise<Done>): Promise<Done>
  readonly json: boolean
}

/** How a command ends: exit code 0 unless given, and what a person should know of the result. */
type Ending = { readonly code?: number; readonly note?: string | false }

/** Shows how far long work has come. */
type ProgressDisplay = {
  update(stage: string, done: number, total: number | undefined): void
  stop(): void
}

export type PrintedStreams = { readonly stdout: Terminal; readonly stderr: Terminal }

type Terminal = Writable & { readonly isTTY?: boolean }

/** The output of one command; `progress` asks for lines of progress where standard error is no terminal. */
export function createOutput({ stdout, stderr }: PrintedStreams, json: boolean, progress = false): Output {
  const line = (text: string) => void stdout.write(`${escapeInvisible(text)}\n`)
  const note = (text: string) => void stderr.write(`${escapeInvisible(text)}\n`)
  return {
    json,
    line,
    note,
    result: (value, lines, { code = 0, note: about = false } = {}) => {
      if (json) stdout.write(`${escapeInvisibleInJson(JSON.stringify(value))}\n`)
      else for (const text of [lines()].flat()) line(text)
      if (!json && about) note(about)
      return code
    },
    list: async (name, pages, describe, none) => {
      let count = 0
      const textOf = (row: Parameters<typeof describe>[0]) => {
        const separator = json && count > 0 ? ',' : ''
        count += 1
        return json
          ? `${separator}${escapeInvisibleInJson(JSON.stringify(row))}`
          : `${escapeInvisible(describe(row))}\n`
      }
      if (json) await writeAll(stdout, `{${JSON.stringify(name)}:[`)
      for await (const page of pages) {
        if (!(await writeAll(stdout, page.map(textOf).join('')))) return 0
      }
      if (json) await writeAll(stdout, ']}\n')
      else if (count === 0 && none !== undefined) note(none)
      return 0
    },
    content: async (texts) => {
      for await (const text of texts) {
        const shown = stdout.isTTY ? text.split('\n').map(escapeInvisible).join('\n') : text
        if (!(await writeAll(stdout, shown))) return
      }
    },
    withProgress: async (work) => {
      const elsewhere = progress ? lineDisplay(note) : noDisplay
      const display = json ? noDisplay : stderr.isTTY ? barDisplay(stderr) : elsewhere
      try {
        return await work(display.update)
      } finally {
        display.stop()
      }
    },
  }
}

/** Lines such as `name: value`, their values in a column; none where there is no value. */
export function labelled(
  rows: readonly (readonly [name: string, value: string | undefined])[],
  width: number,
): string[] {
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(width)}${value}`]))
}

/** Writes a text and waits until there is room for the next; false when nobody reads any more. */
async function writeAll(stream: Writable, text: string): Promise<boolean> {
  if (stream.write(text)) return true
  if (stream.destroyed || stream.errored !== null) return false
  return await new Promise((resolve) => {
    const events = ['drain', 'close', 'error'] as const
    const end = () => {
      for (const event of events) stream.off(event, end)
      resolve(!stream.destroyed && stream.errored === null)
    }
    for (const event of events) stream.on(event, end)
  })
}

const noDisplay: ProgressDisplay = { update: () => undefined, stop: () => undefined }

/** A bar in a terminal. */
function barDisplay(stream: Writable): ProgressDisplay {
  const bar = new SingleBar(
    {
      format: '{stage} {bar} {value}/{total}',
      stream: stream as NodeJS.WritableStream,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  let running = false
  return {
    update: (rawStage, done, total) => {
      const stage = escapeInvisible(rawStage)
      const known = Math.max(total ?? done, done, 1)
      if (running) bar.setTotal(known)
      else bar.start(known, 0, { stage })
      running = true
      bar.update(done, { stage })
    },
    stop: () => bar.stop(),
  }
}

const lineEveryMs = 5000

/** A line now and then. */
function lineDisplay(note: Output['note']): ProgressDisplay {
  let last = performance.now()
  return {
    update: (stage, done, total) => {
      if (performance.now() - last < lineEveryMs) return
      last = performance.now()
      note(`${stage}: ${done}${total === undefined ? '' : ` of ${total}`}`)
    },
    stop: () => undefined,
  }
}
