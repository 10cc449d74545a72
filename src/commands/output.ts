import { Presets, SingleBar } from 'cli-progress'

/** Where a command writes for people (or, with `--json`, for scripts); injected, so that tests can read it. */
export type Output = {
  /** A line of the result, on standard output. */
  line(text: string): void
  /** A line about the work, on standard error. */
  note(text: string): void
  readonly json: boolean
}

/** Standard output and error of this process. */
export function terminalOutput(json: boolean): Output {
  return {
    json,
    line: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  }
}

/** A display of long work: a bar in a terminal, a plain line at most every 5 seconds elsewhere. */
export type ProgressDisplay = {
  update(stage: string, done: number, total: number | undefined): void
  stop(): void
}

const lineEveryMs = 5000

/** Shows progress on standard error; shows nothing where a script reads JSON. */
export function progressDisplay(output: Output): ProgressDisplay {
  if (output.json) return { update: () => undefined, stop: () => undefined }
  return process.stderr.isTTY ? barDisplay() : lineDisplay(output)
}

function barDisplay(): ProgressDisplay {
  const bar = new SingleBar(
    { format: '{stage} {bar} {value}/{total}', stream: process.stderr, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  )
  let running = false
  return {
    update: (stage, done, total) => {
      const known = Math.max(total ?? done, done, 1)
      if (running) bar.setTotal(known)
      else bar.start(known, 0, { stage })
      running = true
      bar.update(done, { stage })
    },
    stop: () => bar.stop(),
  }
}

function lineDisplay(output: Output): ProgressDisplay {
  let last = performance.now()
  return {
    update: (stage, done, total) => {
      if (performance.now() - last < lineEveryMs) return
      last = performance.now()
      output.note(`${stage}: ${done}${total === undefined ? '' : ` of ${total}`}`)
    },
    stop: () => undefined,
  }
}
