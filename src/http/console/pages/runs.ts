import type { RunDay, TimedRun } from '../../../work/sql/runs.js'
import { type Html, html } from '../../portal/html.js'
import { button, duration, listed, shownInstant } from './frame.js'

type Runs = {
  readonly runs: readonly TimedRun[]
  readonly days: readonly RunDay[]
  readonly since: Date
  readonly hasMore: boolean
}

/** The runs of the ledger with their stages and durations. */
export function runsPage({ runs, days, since, hasMore }: Runs): Html[] {
  const sum = (pick: 'runs' | 'failed' | 'held') => days.reduce((total, day) => total + day[pick], 0)
  const longest = Math.max(0, ...days.map(({ seconds }) => seconds))
  const last = runs.at(-1)
  return [
    html`<p class="lead">${sum('runs')} runs have ended, ${sum('failed')} of them failed, ${sum('held')} held; the longest took ${duration(longest)}.</p>
${chart(days, since, longest)}
<p>${button('/publish', 'Publish now')}</p>
${listed('Runs, newest first', heads, runs.map(row), 6)}
${hasMore && last ? html`<p><a href="/runs?before=${last.id}">Earlier runs</a></p>` : undefined}`,
  ]
}

const heads = ['Run', 'Asked for by', 'State', 'Started', 'Took', 'Stages', 'Mapped', 'Changed', 'Held']

function row(run: TimedRun): Html {
  const { id, trigger, state, attempt, startedAt, finishedAt, timings = {} } = run
  const why = run.reason ?? run.error?.message
  const took = startedAt && finishedAt && (finishedAt.getTime() - startedAt.getTime()) / 1000
  const stages = Object.entries(timings).map(([stage, seconds]) => `${stage} ${duration(seconds)}`)
  return html`<tr><th scope="row">${id}</th><td>${trigger}</td><td>${state}${attempt > 1 ? ` by attempt ${attempt}` : undefined}${why && `: ${why}`}</td><td>${shownInstant(startedAt)}</td><td>${duration(took)}</td><td>${stages.join(', ')}</td><td class="number">${run.rendered}</td><td class="number">${run.changed}</td><td class="number">${run.held}</td></tr>
`
}

const [width, height, foot] = [800, 160, 20]
const dayMs = 86_400_000

/** A bar for each day, as high as its longest run; of another colour where a run failed or was held. */
function chart(days: readonly RunDay[], since: Date, longest: number): Html {
  const first = Math.floor(since.getTime() / dayMs)
  const last = Math.max(first, ...days.map(({ day }) => Date.parse(day) / dayMs))
  const step = width / (last - first + 1)
  const bars = days.map(({ day, runs, failed, held, seconds }) => {
    const tall = Math.max(2, (seconds / (longest || 1)) * (height - foot))
    const x = (Date.parse(day) / dayMs - first) * step
    return html`<rect class="${failed + held > 0 ? 'bad' : 'in'}" x="${x.toFixed(1)}" y="${(height - foot - tall).toFixed(1)}" width="${(step * 0.8).toFixed(1)}" height="${tall.toFixed(1)}"><title>${day}: ${runs} runs, the longest took ${duration(seconds)}, ${failed} failed, ${held} held</title></rect>`
  })
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="The longest run of each day, at most ${duration(longest)}; days with a failed or held run in another colour. The table has the figures.">${bars}<text x="0" y="${height - 4}">${since.toISOString().slice(0, 10)}</text><text x="${width}" y="${height - 4}" text-anchor="end">${new Date(last * dayMs).toISOString().slice(0, 10)}</text></svg>`
}
