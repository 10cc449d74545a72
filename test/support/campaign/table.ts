import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import type { CampaignRow } from './record.js'

declare module 'vitest' {
  export interface ProvidedContext {
    campaignFile: string
  }
}

/** Gathers what the cases report and prints one table at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(path.join(tmpdir(), 'giving-campaign-'))
  const file = path.join(dir, 'rows.jsonl')
  project.provide('campaignFile', file)
  return async () => {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    const rows = lines.map((line) => JSON.parse(line) as CampaignRow)
    rows.sort((a, b) => a.name.localeCompare(b.name) || a.engine.localeCompare(b.engine))
    const table = [
      '| Case | Queue | Times tried | Outcome |',
      '|---|---|---|---|',
      ...rows.map(({ name, engine, tried, outcome }) => `| ${name} | ${engine} | ${tried} | ${outcome} |`),
    ]
    console.log(`\n${table.join('\n')}\n`)
    await rm(dir, { recursive: true, force: true })
  }
}
