import { describe, expect, it } from 'vitest'
import { atLeast, atMost, type Bench, isHeld, median } from '../../../bench/suite/bench.js'
import { readCommandLine, UsageError, usage } from '../../../bench/suite/command-line.js'
import { contest, speedRatio } from '../../../bench/suite/contest.js'
import { barLine, type SuiteReport, toJson, toMarkdown } from '../../../bench/suite/report.js'

const aBench = (name: string, byDefault: boolean): Bench => ({
  name,
  about: `what ${name} compares`,
  byDefault,
  run: async () => ({ bars: [] }),
})
const known = [aBench('mapping', true), aBench('render', true), aBench('scale', false), aBench('api', false)]
const namesOf = (...args: string[]) => {
  const request = readCommandLine(args, known)
  return request === 'help' ? [] : request.benches.map(({ name }) => name)
}

describe('the command line of the benches', () => {
  it('runs the default set without names, the named ones otherwise, and never scale by accident', () => {
    expect(namesOf()).toEqual(['mapping', 'render'])
    expect(namesOf('scale', 'render')).toEqual(['render', 'scale'])
    expect(namesOf('all')).toEqual(['mapping', 'render', 'api'])
    expect(namesOf('all', 'scale')).toEqual(['mapping', 'render', 'scale', 'api'])
  })

  it('reads its options', () => {
    const args = ['mapping', '--quick', '--json', 'a.json', '--markdown=b.md', '--projects', '200']
    expect(readCommandLine(args, known)).toMatchObject({
      ...{ quick: true, million: false, json: 'a.json', markdown: 'b.md', projects: 200 },
    })
    expect(readCommandLine(['--help'], known)).toBe('help')
  })

  it('refuses what it does not know, in one sentence', () => {
    for (const args of [['nonsense'], ['--fast'], ['--projects', '7'], ['--million'], ['--json']]) {
      expect(() => readCommandLine(args, known), args.join(' ')).toThrow(UsageError)
    }
    expect(() => readCommandLine(['nonsense'], known)).toThrow(
      'expected names of benches (mapping, render, scale, api) or all, got nonsense',
    )
  })

  it('tells of every bench and option', () => {
    const text = usage(known)
    for (const { name, about } of known) expect(text).toMatch(new RegExp(`^  ${name} +${about}$`, 'm'))
    for (const option of ['--quick', '--million', '--json', '--markdown', '--projects']) expect(text).toContain(option)
  })
})

describe('a bar', () => {
  it('is held at its very value, and missed by what is no number', () => {
    expect(isHeld(atLeast(0.8, 'a', 0.8))).toBe(true)
    expect(isHeld(atLeast(0.8, 'a', 0.79))).toBe(false)
    expect(isHeld(atMost(2, 'a', 2, 's'))).toBe(true)
    expect(isHeld(atMost(2, 'a', 2.01, 's'))).toBe(false)
    expect([atLeast(0, 'a', Number.NaN), atMost(9, 'a', Number.NaN)].some(isHeld)).toBe(false)
  })

  it('is told with its verdict, its value and what it must be', () => {
    expect(barLine(atLeast(5, 'mapping', 2.914))).toBe('MISSED mapping: 2.91 (bar: ≥ 5)')
    expect(barLine(atMost(250, 'memory', 163.7, 'MB'))).toBe('held   memory: 164 MB (bar: ≤ 250 MB)')
    expect(barLine(atMost(0.02, 'quiet day', 0.0037))).toBe('held   quiet day: 0.0037 (bar: ≤ 0.020)')
  })
})

describe('a contest', () => {
  it('lets all do their work equally often, each round in another order, and keeps no warm-up', async () => {
    const order: string[] = []
    const contender = (name: string, seconds: number) => ({
      name,
      run: async () => {
        order.push(name)
        return seconds
      },
    })
    const measured = await contest([contender('a', 1), contender('b', 3)], { rounds: 2, progress: () => undefined })
    expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b'])
    expect(measured).toEqual([
      { name: 'a', seconds: [1, 1] },
      { name: 'b', seconds: [3, 3] },
    ])
    expect(speedRatio(measured[0], measured[1])).toBe(3)
  })

  it('compares each round with its own', () => {
    const [own, peer] = [
      [1, 10, 1],
      [2, 20, 9],
    ].map((seconds, index) => ({ name: String(index), seconds }))
    expect(speedRatio(own, peer)).toBe(2)
    expect(median([4, 1])).toBe(2.5)
    expect(median([])).toBeNaN()
  })
})

describe('the report', () => {
  const report: SuiteReport = {
    machine: { cpu: 'C', cores: 2, memoryGiB: 4, system: 'Linux', node: '20.19.0', postgres: '18', loadBefore: 0.1 },
    ...{ startedAt: '2026-11-21T02:00:00.000Z', quick: true, seconds: 61.2, held: false },
    benches: [
      {
        ...{ name: 'mapping', about: 'this | beside that', seconds: 3 },
        tables: [{ title: 'Activities a second', columns: ['', 'activities/s'], rows: [['ours | theirs', '12']] }],
        bars: [atLeast(5, 'times theirs', 6), atLeast(20, 'times others', 7)],
        notes: ['A note.'],
      },
      { name: 'render', about: 'rows', seconds: 1, bars: [], error: 'it broke' },
    ],
  }

  it('is JSON with the verdict of every bar', () => {
    const { benches, ...rest } = JSON.parse(toJson(report))
    expect(rest).toEqual({
      machine: report.machine,
      ...{ startedAt: report.startedAt, quick: true, seconds: 61.2, held: false },
    })
    expect(benches[0].bars).toEqual([
      { name: 'times theirs', value: 6, kind: 'least', bar: 5, unit: '', held: true },
      { name: 'times others', value: 7, kind: 'least', bar: 20, unit: '', held: false },
    ])
    expect(benches[1]).toEqual({
      ...{ name: 'render', about: 'rows', seconds: 1, tables: [], bars: [], notes: [], error: 'it broke' },
    })
  })

  it('is Markdown with the machine, the bars and every table', () => {
    const text = toMarkdown(report)
    expect(text).toContain('2026-11-21, --quick, 61 s: 2 cores C, 4 GiB, Linux, Node 20.19.0, PostgreSQL 18')
    expect(text).toContain('| mapping | times others | ≥ 20 | 7 | **missed** |')
    expect(text).toContain('| ours \\| theirs | 12 |')
    expect(text).toContain('Failed: it broke')
  })
})
