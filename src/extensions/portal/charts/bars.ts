import { type Html, html } from '../../../http/pages/html.js'

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
// Units that the name of a month takes, and the most parts between names.
const monthWidth = 70
const mostLabels = 6

/** How a language writes amounts and months along a chart. */
export type Axes = { readonly amount: (value: number) => string; readonly month: (name: string) => string }

/** Bars of each month, received beside paid out. */
export function monthBars(points: readonly MonthPoint[], label: string, axes: Axes): Html {
  const values = points.flatMap((point) => [point.in, point.out])
  return drawn(points, values, label, axes, ({ left, width }, y) => {
    const step = (width - margin.right - left) / points.length
    const half = (step * 0.75) / 2
    const barsOf = (side: 'in' | 'out', shift: number) => {
      const bars = points.flatMap((point, at) => {
        const value = point[side]
        if (value === 0) return []
        const [top, bottom] = [y(Math.max(0, value)), y(Math.min(0, value))]
        const start = left + at * step + step / 8 + shift * half
        const wide = Math.max(1, half - 0.5).toFixed(1)
        return `M${start.toFixed(1)} ${top.toFixed(0)}h${wide}v${Math.max(0.5, bottom - top).toFixed(1)}h-${wide}z`
      })
      return html`<path class="bars-${side}" d="${bars.join('')}"/>`
    }
    return html`${barsOf('in', 0)}${barsOf('out', 1)}`
  })
}

/** Sums up to each month: received as an area, paid out as a line, the budget as a straight line. */
export function sumLines(points: readonly MonthPoint[], budget: number, label: string, axes: Axes): Html {
  let [received, paid] = [0, 0]
  const sums = points.map((point) => {
    received += point.in
    paid += point.out
    return { in: received, out: paid }
  })
  const values = [budget, ...sums.flatMap((sum) => [sum.in, sum.out])]
  return drawn(points, values, label, axes, ({ left, width }, y) => {
    const step = (width - margin.right - left) / points.length
    // Each sum lasts to the end of its month.
    const steps = (side: 'in' | 'out') => sums.map((sum) => `V${y(sum[side]).toFixed(0)}h${step.toFixed(1)}`).join('')
    const [start, zero] = [`M${left} ${y(0).toFixed(0)}`, `V${y(0).toFixed(0)}z`]
    const goal = html`<path class="goal" d="M${left} ${y(budget).toFixed(0)}H${width - margin.right}"/>`
    return html`<path class="in" d="${start}${steps('in')}${zero}"/><path class="out" d="${start}${steps('out')}"/>${budget > 0 ? goal : undefined}`
  })
}

type Scale = (value: number) => number

/** A chart in each shape, with its axes around what `content` draws. */
function drawn(
  points: readonly MonthPoint[],
  values: readonly number[],
  label: string,
  axes: Axes,
  content: (shape: Shape, y: Scale) => Html,
): Html {
  if (points.length === 0) return html``
  return html`${shapes.map((shape) => {
    const { name, width, height, left } = shape
    const [low, ...above] = ticksOf(Math.min(0, ...values), Math.max(1, ...values))
    const most = above.at(-1) ?? 1
    const y: Scale = (value) =>
      height - margin.bottom - ((value - low) / (most - low)) * (height - margin.bottom - margin.top)
    const rules = [low, ...above].map((value) => {
      const at = y(value).toFixed(0)
      return html`<path class="rule" d="M${left} ${at}H${width - margin.right}"/><text x="${left - 6}" y="${at}" dy="4" text-anchor="end">${axes.amount(value)}</text>`
    })
    const step = (width - margin.right - left) / points.length
    const months = labelled(points.length, width - left).map((at, place, all) => {
      const anchor = all.length > 1 && place === all.length - 1 ? 'end' : place === 0 ? 'start' : 'middle'
      const x = left + step * (anchor === 'end' ? at + 1 : anchor === 'start' ? at : at + 0.5)
      return html`<text x="${x.toFixed(0)}" y="${height - 6}" text-anchor="${anchor}">${axes.month(points[at]?.month ?? '')}</text>`
    })
    return html`<svg class="chart ${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${rules}${content(shape, y)}${months}</svg>`
  })}`
}

/** Round amounts, about four apart, from at most the least to at least the most. */
function ticksOf(least: number, most: number): [number, ...number[]] {
  const wanted = (most - least) / 4
  const power = 10 ** Math.floor(Math.log10(wanted))
  const step = power * ([1, 2, 5].find((one) => one * power >= wanted) ?? 10)
  const first = Math.floor(least / step)
  const others = Array.from({ length: Math.ceil(most / step) - first }, (_, at) => (first + at + 1) * step)
  return [first * step, ...others]
}

/** The months with labels: the first and the last, and between them as many, equally far apart, as there is room for. */
function labelled(count: number, room: number): number[] {
  const gaps = Math.max(1, Math.min(count - 1, mostLabels, Math.floor(room / monthWidth) - 1))
  return [...new Set(Array.from({ length: gaps + 1 }, (_, at) => Math.round((at * (count - 1)) / gaps)))]
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
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const items = bars.map(({ name, code, href, value, text }) => {
    const link = html`<a href="${href}"><bdi>${name}</bdi></a>`
    const named = code === undefined ? link : html`<div>${link} <code>${code}</code></div>`
    return html`<li>${named} <span class="number">${text}</span><svg aria-hidden="true"><rect width="${((100 * value) / most).toFixed(1)}%" height="9"/></svg></li>\n`
  })
  return html`<ul class="bars">
${items}</ul>`
}

/** A part of a whole as a bar; the figures stand beside it. */
export function meter(part: number, whole: number): Html {
  const share = Math.min(100, Math.max(0, (100 * part) / Math.max(1, whole)))
  return html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${share.toFixed(1)}" height="8"/></svg>`
}
