import { median } from './bench.js'

/** One way of doing the same work. */
export type Contender = {
  readonly name: string
  /** Does the work once; returns how many seconds of it count. */
  run(): Promise<number>
}

/** Seconds of each round, in the order of the rounds. */
export type Measured = { readonly name: string; readonly seconds: readonly number[] }

export type ContestOptions = {
  readonly rounds: number
  /** Rounds before the first that counts. */
  readonly warmUp?: number
  progress(what: string): void
}

/** Runs the contenders in turn, round by round, each round in another order: a disturbance of the machine affects all. */
export async function contest(
  contenders: readonly Contender[],
  { rounds, warmUp = 1, progress }: ContestOptions,
): Promise<Measured[]> {
  const measured = contenders.map(({ name }) => ({ name, seconds: [] as number[] }))
  for (let round = -warmUp; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (turn + round + warmUp) % contenders.length
      const contender = contenders[index]
      if (!contender) continue
      progress(`${contender.name}: ${round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`}`)
      const seconds = await contender.run()
      if (round >= 0) measured[index]?.seconds.push(seconds)
    }
  }
  return measured
}

/** How many times as fast as `peer` `own` is: the median of the ratios of each round. */
export function speedRatio(own: Measured | undefined, peer: Measured | undefined): number {
  return median((own?.seconds ?? []).map((seconds, round) => (peer?.seconds[round] ?? Number.NaN) / seconds))
}

/** Seconds that a piece of work takes. */
export async function secondsOf(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

/** Median and spread, as text: `1.23 (1.20 to 1.31)`. */
export function spread(values: readonly number[], digits = 2): string {
  const text = (value: number) => value.toFixed(digits)
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`
}

/** A rate as text, with its spread over the rounds: `count` things in each round's seconds. */
export function rate(count: number, seconds: readonly number[], digits = 0): string {
  return spread(
    seconds.map((one) => count / one),
    digits,
  )
}
