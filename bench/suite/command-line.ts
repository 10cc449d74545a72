import { parseArgs } from 'node:util'
import type { Bench } from './bench.js'

/** The parsed command line. */
export type Request = {
  readonly benches: readonly Bench[]
  readonly quick: boolean
  readonly million: boolean
  readonly projects?: number
  readonly only?: string
  readonly data?: string
  /** Files to write besides what is printed. */
  readonly json?: string
  readonly markdown?: string
}

/** An invalid command line; its message is for people. */
export class UsageError extends Error {}

/** Reads the command line; `help` when it asks for help. Throws `UsageError` with one sentence. */
export function readCommandLine(args: readonly string[], known: readonly Bench[]): Request | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const strangers = positionals.filter((name) => name !== 'all' && !known.some((bench) => bench.name === name))
  if (strangers.length > 0) {
    const names = known.map(({ name }) => name).join(', ')
    throw new UsageError(`expected names of benches (${names}) or all, got ${strangers.join(', ')}`)
  }
  const isWanted = ({ name, byDefault }: Bench) => {
    if (positionals.includes(name)) return true
    // `scale` takes long and needs much disk, so it must be named.
    if (positionals.includes('all')) return name !== 'scale'
    return positionals.length === 0 && byDefault
  }
  const benches = known.filter(isWanted)
  if (values.million && !benches.some(({ name }) => name === 'scale')) {
    throw new UsageError('expected the bench scale together with --million')
  }
  return {
    benches,
    quick: values.quick ?? false,
    million: values.million ?? false,
    ...(values.projects !== undefined && { projects: readProjects(values.projects) }),
    ...(values.only !== undefined && { only: values.only }),
    ...(values.data !== undefined && { data: values.data }),
    ...(values.json !== undefined && { json: values.json }),
    ...(values.markdown !== undefined && { markdown: values.markdown }),
  }
}

function readProjects(text: string): number {
  const projects = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  if (projects < 100) throw new UsageError(`expected a whole number of projects from 100 on, got --projects ${text}`)
  return projects
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        quick: { type: 'boolean' },
        million: { type: 'boolean' },
        projects: { type: 'string' },
        only: { type: 'string' },
        data: { type: 'string' },
        json: { type: 'string' },
        markdown: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** The text of `--help`. */
export function usage(known: readonly Bench[]): string {
  const width = Math.max(...known.map(({ name }) => name.length)) + 2
  const list = (byDefault: boolean) =>
    known
      .filter((bench) => bench.byDefault === byDefault)
      .map(({ name, about }) => `  ${name.padEnd(width)}${about}`)
      .join('\n')
  return `usage: npm run bench -- [NAME...] [options]

Without names, runs:
${list(true)}

By name only (all: every bench but scale):
${list(false)}

Options:
  --quick          fewer rows and rounds: a few minutes, ratios less certain
  --projects N     N projects in each bench instead of its own number (scale: in its largest build): to try it out
  --million        scale only: up to 1,000,000 projects
  --only TEXT      api only: targets whose name has the text
  --data FOLDER    api and search only: the seeded database stays there for the next time
  --json FILE      writes the results as JSON
  --markdown FILE  writes the results as Markdown
  -h, --help       shows this

Exit codes: 0 all bars held, 1 a bar missed, 2 unusable command line or a bench that failed.
`
}
