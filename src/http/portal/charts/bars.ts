import { scaleBand, scaleLinear } from 'd3-scale'
import { area, curveStepAfter, line } from 'd3-shape'
import { type Html, html } from '../html.js'

/** The numbers of a month, for drawing only: exact amounts are in the table beneath. */
export type MonthPoint = { readonly month: string; readonly in: number; readonly out: number }

const margin = { right: 8, top: 12, bottom: 24 }

/** A chart is drawn for a desk and for a phone, since its texts would shrink with it; the stylesheet shows one. */
type Shape = {
  readonly name: 'wide' | 'narrow'
  readonly width: number
  readonly height: number
  readonly left: number
}
const shapes: readonly Shape[] = [
  { name: 'wide', width: 800, height: 240, left: 56 },
  { name: 'narrow', width: 300, height: 200, left: 46 },
]
// Units that the name of a month takes.
const monthWidth = 64

/** Bars of each month, received beside paid out. */
export function monthBars(points: readonly MonthPoint[], label: string, tick: (value: number) => string): Html {
  return html`${shapes.map((shape) => monthBarsIn(shape, points, label, tick))}`
}

function monthBarsIn(
  shape: Shape,
  points: readonly MonthPoint[],
  label: string,
  tick: (value: number) => string,
): Html {
  const { width, height, left: margins } = shape
  const values = points.flatMap((point) => [point.in, point.out])
  const y = scaleLinear([Math.min(0, ...values), Math.max(1, ...values)], [height - margin.bottom, margin.top]).nice(4)
  const x = scaleBand(
    points.map(({ month }) => month),
    [margins, width - margin.right],
  ).padding(0.25)
  const half = x.bandwidth() / 2
  const barsOf = (side: 'in' | 'out', shift: number) => {
    const shapes = points.flatMap((point) => {
      const value = point[side]
      if (value === 0) return []
      const [top, bottom] = [y(Math.max(0, value)), y(Math.min(0, value))]
      const [left, wide] = [(x(point.month) ?? 0) + shift * half, Math.max(1, half - 0.5).toFixed(1)]
      return `M${left.toFixed(1)} ${top.toFixed(1)}h${wide}v${Math.max(0.5, bottom - top).toFixed(1)}h-${wide}z`
    })
    return html`<path class="bars-${side}" d="${shapes.join('')}"/>`
  }
  const bars = [barsOf('in', 0), barsOf('out', 1)]
  const labels = labelled(points, width - margins).map(
    ({ month }) =>
      html`<text x="${((x(month) ?? 0) + x.bandwidth() / 2).toFixed(0)}" y="${height - 6}" text-anchor="middle">${month.endsWith('-01') ? month.slice(0, 4) : month}</text>`,
  )
  return frame(shape, label, html`${axis(shape, y, tick)}${bars}${labels}`)
}

/** Sums up to each month: received as an area, paid out as a line, the budget as a straight line. */
export function sumLines(
  points: readonly MonthPoint[],
  budget: number,
  label: string,
  tick: (value: number) => string,
): Html {
  return html`${shapes.map((shape) => sumLinesIn(shape, points, budget, label, tick))}`
}

function sumLinesIn(
  shape: Shape,
  points: readonly MonthPoint[],
  budget: number,
  label: string,
  tick: (value: number) => string,
): Html {
  const { width, height, left } = shape
  let [received, paid] = [0, 0]
  const sums = points.map((point) => {
    received += point.in
    paid += point.out
    return { month: point.month, in: received, out: paid }
  })
  const last = sums.at(-1)
  if (!last) return html``
  // The last sum lasts to the end of its month.
  const steps = [...sums, last].map((sum, at) => ({ ...sum, at }))
  const most = Math.max(1, budget, ...sums.flatMap((sum) => [sum.in, sum.out]))
  const y = scaleLinear([Math.min(0, ...sums.map((sum) => sum.out)), most], [height - margin.bottom, margin.top]).nice(
    4,
  )
  const x = scaleLinear([0, steps.length - 1], [left, width - margin.right])
  type Step = (typeof steps)[number]
  const surface = area<Step>(
    (step) => x(step.at),
    y(0),
    (step) => y(step.in),
  )
    .curve(curveStepAfter)
    .digits(1)
  const stroke = line<Step>(
    (step) => x(step.at),
    (step) => y(step.out),
  )
    .curve(curveStepAfter)
    .digits(1)
  const labels = labelled(sums, width - left).map(
    ({ month, at }) =>
      html`<text x="${x(at).toFixed(0)}" y="${height - 6}">${month.endsWith('-01') ? month.slice(0, 4) : month}</text>`,
  )
  const goal = html`<line class="goal" x1="${left}" x2="${width - margin.right}" y1="${y(budget).toFixed(1)}" y2="${y(budget).toFixed(1)}"/>`
  return frame(
    shape,
    label,
    html`${axis(shape, y, tick)}<path class="in" d="${surface(steps) ?? ''}"/><path class="out" d="${stroke(steps) ?? ''}"/>${budget > 0 ? goal : undefined}${labels}`,
  )
}

/** The months with labels: first and last, and between them Januaries, or all of a short time, as many as there is room for. */
function labelled(months: readonly { readonly month: string }[], room: number): { month: string; at: number }[] {
  const end = months.length - 1
  const apart = Math.ceil((monthWidth * months.length) / room)
  const isShort = months.length <= 18
  const between = months.flatMap(({ month }, at) =>
    (isShort ? at % apart === 0 : month.endsWith('-01')) && at >= apart && end - at >= apart ? [{ month, at }] : [],
  )
  const every = Math.max(1, Math.ceil((monthWidth * between.length) / room))
  const first = { month: months[0]?.month ?? '', at: 0 }
  const last = { month: months[end]?.month ?? '', at: end }
  return [first, ...between.filter((_, at) => at % every === 0), ...(end >= apart ? [last] : [])]
}

function axis(
  { width, left }: Shape,
  y: ReturnType<typeof scaleLinear<number>>,
  tick: (value: number) => string,
): Html[] {
  return y.ticks(4).map((value) => {
    const at = y(value).toFixed(1)
    return html`<line class="rule" x1="${left}" x2="${width - margin.right}" y1="${at}" y2="${at}"/><text x="${left - 6}" y="${at}" dy="4" text-anchor="end">${tick(value)}</text>`
  })
}

function frame({ name, width, height }: Shape, label: string, content: Html): Html {
  return html`<svg class="chart ${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${content}</svg>`
}

type Bar = {
  readonly name: string | Html
  /** Stands behind the name. */
  readonly code?: string
  readonly href: string
  readonly value: number
  readonly text: string
}

/** Names with bars beside them, as a list that is read as text too. */
export function barList(bars: readonly Bar[]): Html {
  const scale = scaleLinear([0, Math.max(1, ...bars.map(({ value }) => value))], [0, 100])
  const items = bars.map(({ name, code, href, value, text }) => {
    const link = html`<a href="${href}"><bdi>${name}</bdi></a>`
    const named = code === undefined ? link : html`<div>${link} <code>${code}</code></div>`
    return html`<li>${named} <span class="number">${text}</span><svg aria-hidden="true"><rect width="${scale(value).toFixed(1)}%" height="9"/></svg></li>\n`
  })
  return html`<ul class="bars">
${items}</ul>`
}

/** A part of a whole as a bar; the figures stand beside it. */
export function meter(part: number, whole: number): Html {
  const share = Math.min(100, Math.max(0, (100 * part) / Math.max(1, whole)))
  return html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${share.toFixed(1)}" height="8"/></svg>`
}
