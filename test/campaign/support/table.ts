import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import type { CampaignRow } from './record.js'

declare module 'vitest' {
  export interface ProvidedContext {
    campaignFile: string
  }
}

/** Gathers what the cases report and prints one table at the end, in Markdown, with when and how it was made. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(path.join(tmpdir(), 'giving-campaign-'))
  const file = path.join(dir, 'rows.jsonl')
  const began = performance.now()
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
    const minutes = ((performance.now() - began) / 60_000).toFixed(1)
    const how = `CAMPAIGN_SCALE=${process.env.CAMPAIGN_SCALE || 1}, ${availableParallelism()} cores, Node ${process.version}`
    const heading = `Last run: ${new Date().toISOString().slice(0, 10)}, ${minutes} minutes, ${how}.`
    console.log(`\n${heading}\n\n${table.join('\n')}\n`)
    await rm(dir, { recursive: true, force: true })
  }
}
