import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RenderedProject } from '../../../src/publishing/render-project.js'
import { openRenderThreads, type RenderThreadsOptions } from '../../../src/publishing/render-threads.js'
import { createRenderer, type RenderSource } from '../../../src/publishing/renderer.js'
import { graphSources } from '../../../src/store/project-graphs.js'
import { mappingConfig } from '../../support/builders.js'
import { testDatabase } from '../../support/database.js'
import { seedProjects } from '../../support/seeded.js'

const startedAt = new Date('2026-11-21T02:00:00Z')
const program = new URL('../../support/render-thread.mjs', import.meta.url)
const dying = new URL('../../support/dying-thread.mjs', import.meta.url)

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.close()
})

async function open(options: Partial<RenderThreadsOptions> = {}) {
  const threads = await openRenderThreads({ mapping: mappingConfig, threads: 2, program, ...options })
  opened.push(threads)
  return threads
}

/** What is stored of it, its texts as text. */
function told({ rendering, record }: RenderedProject): unknown {
  const { content, feed } = rendering
  return {
    ...rendering,
    content: content && { ...content, text: content.text.toString() },
    feed: typeof feed === 'object' ? { ...feed, text: feed.text.toString() } : feed,
    record: Object.fromEntries(Object.entries(record).map(([name, text]) => [name, text.toString()])),
  }
}

describe('rendering threads', () => {
  let projects: RenderSource[]

  beforeAll(async () => {
    const { store } = await testDatabase()
    await seedProjects(store, 40, startedAt)
    const ids = Array.from({ length: 40 }, (_, index) => index + 1)
    const sources = await graphSources(store.db, ids)
    projects = ids.map((projectId) => ({
      stale: {
        projectId,
        identifier: undefined,
        contentHash: undefined,
        lastUpdatedAt: undefined,
        feedHash: undefined,
      },
      source: sources.get(projectId) ?? '',
    }))
  })

  it('make what the thread of the caller makes, several batches at a time and in order', async () => {
    const threads = await open()
    const here = createRenderer({ mapping: mappingConfig })
    const batches = [0, 10, 20, 30].map((from) => projects.slice(from, from + 10))
    const there = await Promise.all(batches.map((batch) => threads.render(batch, startedAt)))
    const expected = await Promise.all(batches.map((batch) => here.render(batch, startedAt)))
    expect(there.flat().map(told)).toEqual(expected.flat().map(told))
    expect(there.flat()).toHaveLength(40)
    const [first] = there.flat()
    expect(Buffer.isBuffer(first?.rendering.content?.text)).toBe(true)
    expect(Buffer.isBuffer(first?.record.xml)).toBe(true)
  })

  it('tell how long the stages took', async () => {
    const stages: string[] = []
    const threads = await open({ onStage: (stage) => stages.push(stage) })
    await threads.render(projects.slice(0, 2), startedAt)
    expect(stages.sort()).toEqual(['check', 'feeds', 'map', 'xsd'])
  })

  it('fail the batch that a thread dies of, and go on with another thread', async () => {
    const threads = await open({ program: dying })
    const both = await Promise.allSettled([1, 2, 3].map(() => threads.render(projects.slice(0, 1), startedAt)))
    for (const one of both) {
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'a rendering thread ended with 3' } })
    }
  })

  it('fail a batch that the program cannot render, and live on', async () => {
    const threads = await open({ threads: 1 })
    const [project] = projects
    if (!project) throw new Error('expected projects')
    await expect(threads.render([{ ...project, source: '{' }], startedAt)).rejects.toThrow(/JSON/)
    await expect(threads.render([project], startedAt)).resolves.toHaveLength(1)
  })

  it('refuse to start over a schema that cannot be used', async () => {
    const standardDir = await mkdtemp(path.join(tmpdir(), 'giving-schema-'))
    await mkdir(path.join(standardDir, 'schemas'))
    await writeFile(path.join(standardDir, 'schemas', 'iati-common.xsd'), '<not a schema')
    await expect(open({ standardDir })).rejects.toMatchObject({ code: 'standard-missing' })
    await rm(standardDir, { recursive: true })
  })

  it('take no more work once they are closed', async () => {
    const threads = await open()
    await threads.close()
    await expect(threads.render(projects, startedAt)).rejects.toMatchObject({ code: 'aborted' })
  })
})
