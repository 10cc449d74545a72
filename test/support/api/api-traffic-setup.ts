import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { committedDescription, expectedTraffic } from './api-description.js'

/** Gives the test files a folder for what they saw of the API; after a whole run everything described must have been seen. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'giving-traffic-'))
  project.provide('trafficDir', folder)
  return async () => {
    const seen = new Set(
      readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as string[]),
    )
    rmSync(folder, { recursive: true })
    const projects = project.vitest.projects.filter(({ name }) => name !== 'pure')
    const files = await Promise.all(projects.map((one) => one.globTestFiles()))
    // `npm test` and the campaign run a part of the tests only.
    const whole =
      ['store', 'processes'].every((name) => projects.some((one) => one.name === name)) &&
      files.flatMap(({ testFiles }) => testFiles).every((file) => project.vitest.state.filesMap.has(file)) &&
      !project.config.testNamePattern
    if (!whole && process.env.SHOW_TRAFFIC === undefined) return
    const unseen = expectedTraffic(committedDescription()).filter((name) => !seen.has(name))
    if (unseen.length === 0) return
    if (whole) process.exitCode = 1
    throw new Error(`openapi.json describes what no test has asked for:\n${unseen.join('\n')}`)
  }
}
