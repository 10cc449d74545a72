import { type Bar, type BenchResult, isHeld, type Table } from './bench.js'
import { type Machine, machineLine } from './machine.js'

/** A whole run of the suite; `--json` writes it as it is, with `held` beside each bar. */
export type SuiteReport = {
  readonly machine: Machine
  readonly startedAt: string
  readonly quick: boolean
  readonly seconds: number
  /** Whether every bar of every bench held and no bench failed. */
  readonly held: boolean
  readonly benches: readonly BenchReport[]
}

export type BenchReport = BenchResult & {
  readonly name: string
  readonly about: string
  readonly seconds: number
  /** The failure, if it could not be measured. */
  readonly error?: string
}

/** The report as JSON text. */
export function toJson(report: SuiteReport): string {
  const benches = report.benches.map(({ name, about, seconds, error, tables = [], bars, notes = [] }) => ({
    ...{ name, about, seconds, tables },
    bars: bars.map((bar) => ({ ...bar, held: isHeld(bar) })),
    notes,
    ...(error !== undefined && { error }),
  }))
  return `${JSON.stringify({ ...report, benches }, null, 2)}\n`
}

/** The report as Markdown. */
export function toMarkdown(report: SuiteReport): string {
  const { machine, startedAt, quick, seconds, benches } = report
  const head = `${startedAt.slice(0, 10)}${quick ? ', --quick' : ''}, ${seconds.toFixed(0)} s: ${machineLine(machine)}`
  const bars = benches.flatMap(({ name, bars: own }) => own.map((bar) => barCells(name, bar)))
  const parts = benches.map(({ name, about, tables = [], notes = [], error }) =>
    [
      `### ${name}: ${about}`,
      ...tables.map((table) => `${table.title}\n\n${markdownTable(table.columns, table.rows)}`),
      ...notes,
      ...(error === undefined ? [] : [`Failed: ${error}`]),
    ].join('\n\n'),
  )
  const barTable = bars.length > 0 ? [markdownTable(['Bench', 'Bar', 'Must be', 'Is', ''], bars)] : []
  return `${[head, ...barTable, ...parts].join('\n\n')}\n`
}

function barCells(bench: string, bar: Bar): string[] {
  return [bench, bar.name, mustBe(bar), withUnit(bar.value, bar.unit), isHeld(bar) ? 'held' : '**missed**']
}

/** A bar in one line, its verdict first. */
export function barLine(bar: Bar): string {
  return `${isHeld(bar) ? 'held  ' : 'MISSED'} ${bar.name}: ${withUnit(bar.value, bar.unit)} (bar: ${mustBe(bar)})`
}

function mustBe({ kind, bar, unit }: Bar): string {
  return `${kind === 'least' ? '≥' : '≤'} ${withUnit(bar, unit)}`
}

function withUnit(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const text = Math.abs(value) < 0.1 && value !== 0 ? value.toPrecision(2) : value.toFixed(digits)
  return unit === '' ? text : `${text} ${unit}`
}

function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const align = columns.map((_, index) => (index === 0 ? '---' : '---:'))
  return [line(columns), `|${align.join('|')}|`, ...rows.map(line)].join('\n')
}

/** A table for a terminal: the first column to the left, numbers to the right. */
export function tableLines({ title, columns, rows }: Table): string[] {
  const all = [columns, ...rows]
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)))
  const line = (row: readonly string[]) =>
    columns
      .map((_, index) => {
        const cell = row[index] ?? ''
        return index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)
      })
      .join('  ')
      .trimEnd()
  return [title, ...all.map((row) => `  ${line(row)}`)]
}
