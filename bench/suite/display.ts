/** Results go to standard output, progress to standard error. */
export type Display = {
  say(line: string): void
  progress(what: string): void
}

const lineEveryMs = 5_000

/** In a terminal, progress is one line that changes; elsewhere a plain line from time to time. */
export function openDisplay(): Display {
  const { stdout, stderr } = process
  const erase = stderr.isTTY ? '\r\u001b[2K' : ''
  let last = 0
  return {
    say: (line) => {
      if (erase) stderr.write(erase)
      stdout.write(`${line}\n`)
    },
    progress: (what) => {
      if (erase) stderr.write(`${erase}${what.slice(0, Math.max(10, stderr.columns - 1))}`)
      else if (performance.now() - last > lineEveryMs) {
        last = performance.now()
        stderr.write(`${what}\n`)
      }
    },
  }
}
