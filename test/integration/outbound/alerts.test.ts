import { spawnSync } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../../src/platform/observability/metrics.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'

const deploy = path.resolve(import.meta.dirname, '../../../deploy')

type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
type Rule = { readonly alert?: string; readonly record?: string; readonly expr: string }
type Dashboard = { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] }

const { groups } = parse(readProjectFile('deploy/prometheus/giving.rules.yml')) as Rules
const rules = groups.flatMap((group) => group.rules)
const alerts = rules.flatMap(({ alert }) => alert ?? [])
const dashboard = JSON.parse(readProjectFile('deploy/grafana/giving.json')) as Dashboard
const promtoolMissing = spawnSync('promtool', ['--version']).error && 'promtool (Debian: prometheus) is not installed'

const promtool = (args: readonly string[], input = '') => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input })
  return { status, said: stdout + stderr }
}

async function metricsText(): Promise<string> {
  const unread = async () => {
    throw new Error('not asked for here')
  }
  const { bavail, blocks } = await statfs('.')
  return await createMetrics({
    shared: unread,
    live: unread,
    freeDisk: async () => bavail / blocks,
    onError: () => undefined,
  }).text()
}

describe('the rules for Prometheus', () => {
  it('are right, and each alert fires in its fault and in no other case', (context) => {
    if (promtoolMissing) return context.skip(promtoolMissing)
    const tests = path.join(deploy, 'prometheus/giving.rules.test.yml')
    for (const args of [
      ['check', 'config', path.join(deploy, 'prometheus/prometheus.yml')],
      ['test', 'rules', tests],
    ]) {
      expect(promtool(args)).toMatchObject({ status: 0 })
    }
    const { tests: cases } = parse(readProjectFile('deploy/prometheus/giving.rules.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[]
    }
    const [well = [], wrong = []] = cases.map((one) => one.alert_rule_test)
    expect(well.map(({ alertname }) => alertname)).toEqual(alerts)
    expect(wrong.map(({ alertname }) => alertname)).toEqual(alerts)
    expect(well.filter(({ exp_alerts }) => exp_alerts)).toEqual([])
    expect(wrong.filter(({ exp_alerts }) => exp_alerts?.length !== 1)).toEqual([])
  })

  it('have a paragraph each in docs/how-to/alerts.md', () => {
    const described = [...readProjectFile('docs/how-to/alerts.md').matchAll(/^- \*\*(\w+)\*\*: /gm)].map(
      ([, name]) => name,
    )
    expect(described).toEqual(alerts)
  })
})

describe('the metrics', () => {
  it('have names and units as Prometheus wants them', async (context) => {
    if (promtoolMissing) return context.skip(promtoolMissing)
    const ours = (await metricsText()).split('\n').filter((line) => / giving_|^giving_/.test(line))
    expect(promtool(['check', 'metrics'], `${ours.join('\n')}\n`)).toEqual({ status: 0, said: '' })
  })

  it('are what alerts and dashboard ask for', async () => {
    const told = new Set(
      [...(await metricsText()).matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
      ),
    )
    for (const { record } of rules) if (record) told.add(record)
    const asked = [...rules, ...dashboard.panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr)
    const names = asked.flatMap((expr) => expr.match(/\b(?:giving[_:]|process_)[\w:]+/g) ?? [])
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name) => !told.has(name))).toEqual([])
  })

  it('tell how much of the disk is free', async () => {
    const free = Number(/^giving_data_directory_free_ratio (\S+)$/m.exec(await metricsText())?.[1])
    expect(free).toBeGreaterThan(0)
    expect(free).toBeLessThanOrEqual(1)
  })
})
