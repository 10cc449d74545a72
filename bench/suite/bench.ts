import type { Workshop } from './workshop.js'

/** One bench of the suite; every folder of `bench/` that has a `bench.ts` exports one as `bench`. */
export type Bench = {
  readonly name: string
  /** What it compares, in one sentence. */
  readonly about: string
  /** Whether it runs when no bench is named. */
  readonly byDefault: boolean
  run(setting: BenchSetting): Promise<BenchResult>
}

export type BenchSetting = {
  /** Fewer rows and rounds: the ratios are less certain. */
  readonly quick: boolean
  /** Projects in each bench instead of its own number, to try it out. */
  readonly projects?: number
  /** `scale` only: up to a million projects. */
  readonly million: boolean
  /** `api` only: measure targets whose name has this text. */
  readonly only?: string
  /** `api` and `search` only: a folder in which the seeded database is kept. */
  readonly data?: string
  /** Databases and folders. */
  readonly workshop: Workshop
  /** Prints a line for people. */
  say(line: string): void
  /** Shows the current step, in a terminal as one line that changes. */
  progress(what: string): void
}

export type BenchResult = {
  readonly tables?: readonly Table[]
  readonly bars: readonly Bar[]
  /** What a reader must know to judge the numbers. */
  readonly notes?: readonly string[]
}

/** Numbers side by side; the first column names the row. */
export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A measured value and the value that it must reach. */
export type Bar = {
  readonly name: string
  readonly value: number
  /** `least`: the value must be at least the bar; `most`: at most. */
  readonly kind: 'least' | 'most'
  readonly bar: number
  /** Unit of the value and the bar; '' for a ratio. */
  readonly unit: string
}

/** A bar that is a lower bound; a ratio unless a unit is given. */
export function atLeast(bar: number, name: string, value: number, unit = ''): Bar {
  return { name, value, kind: 'least', bar, unit }
}

/** A bar that is an upper bound; a ratio unless a unit is given. */
export function atMost(bar: number, name: string, value: number, unit = ''): Bar {
  return { name, value, kind: 'most', bar, unit }
}

/** Whether the value reaches its bar. A value that is not a number never does. */
export function isHeld({ value, kind, bar }: Bar): boolean {
  return kind === 'least' ? value >= bar : value <= bar
}

/** The median; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
