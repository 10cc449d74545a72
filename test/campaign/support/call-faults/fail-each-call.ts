import type { TestDatabase } from '../../../support/store/database.js'
import { randomFrom } from '../../../support/values/random.js'
import { type FaultKind, faultKinds } from './counted-calls.js'
import { GivingProcesses, type Outcome } from './giving-process.js'
import type { Trial } from './trial.js'
import { type TrialName, trials } from './trials.js'

/** What was tried and what was wrong. */
export type FaultReport = {
  /** Calls of the undisturbed work. */
  readonly calls: number
  readonly tried: Readonly<Record<FaultKind, number>>
  readonly problems: readonly string[]
}

/**
 * Does the work of a trial once for each of its calls, or for so many of them as the seed chooses, with each kind of fault
 * at that call; afterwards once more undisturbed, in the same process or after a kill in another one.
 */
export async function failEachCall(
  name: TrialName,
  database: TestDatabase,
  { share, seed }: { readonly share: number; readonly seed: number },
): Promise<FaultReport> {
  const trial = await trials[name](database)
  const random = randomFrom(seed)
  const tried = { error: 0, kill: 0, clock: 0 }
  const problems: string[] = []
  let round = 0
  try {
    await using processes = new GivingProcesses(trial.place)
    const undisturbed = async () => {
      await trial.prepare(++round)
      const outcome = await trial.act(processes)
      if (outcome === 'killed' || outcome.code !== 0) throw new Error(`${name}: ${JSON.stringify(outcome)}`)
      return outcome.calls
    }
    // The first one also makes what is there ever after.
    await undisturbed()
    const calls = await undisturbed()
    for (let at = 1; at <= calls; at++) {
      for (const kind of trial.kinds ?? faultKinds) {
        const [chance, variant] = [random(), Math.floor(random() * 6)]
        // The clock is tried at a fifth of the calls: most do not ask it.
        if (chance >= share * (kind === 'clock' ? 0.2 : 1)) continue
        await trial.prepare(++round)
        const outcome = await trial.act(processes, { kind, at, variant })
        const met = outcome === 'killed' ? 'killed' : (outcome.met ?? 'not reached')
        const wrong = [...(await wrongOutcome(trial, kind, outcome)), ...(await trial.wrongAnyTime())]
        await trial.passTime?.()
        const again = await trial.act(processes)
        if (again === 'killed' || again.code !== 0) wrong.push(`then not done: ${JSON.stringify(again)}`)
        if (!(await trial.isDone())) wrong.push('then ended well but is not done')
        wrong.push(...(await trial.wrongAnyTime()), ...(await trial.wrongWhenDone()))
        const found = wrong.map((one) => `${name}, ${kind} at call ${at} of ${calls} (${met}): ${one}`)
        // A run that is ended early has told what it found.
        for (const problem of found) console.log(problem)
        problems.push(...found)
        tried[kind]++
      }
    }
    return { calls, tried, problems }
  } finally {
    await trial.close()
  }
}

/** What is wrong with how the work said that it ended. */
async function wrongOutcome(trial: Trial, kind: FaultKind, outcome: Outcome): Promise<string[]> {
  if (outcome === 'killed') return kind === 'kill' ? [] : ['the process was killed']
  if (kind === 'kill' && outcome.met !== undefined) return ['the process was not killed']
  if (outcome.code === 0) return (await trial.isDone()) ? [] : ['exit code 0, but it is not done']
  if (outcome.code !== 2) return [`exit code ${outcome.code}: ${outcome.stderr}`]
  return / {4}at /.test(outcome.stderr) ? [`a defect: ${outcome.stderr}`] : []
}
