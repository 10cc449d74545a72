import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeElement } from '../../src/xml/writer.js'
import { officialStandard } from '../support/borrowed-files.js'
import { type Installation, newInstallation } from '../support/cli.js'
import { anActivity, replaced } from '../support/iati-records.js'
import { aFullActivity } from '../support/mutants/index.js'

const bytesWanted = 61_000_000
const mostKilobytes = 250 * 1024

let folder: string
let file: string
let activities = 0

function* numberedActivities(): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities version="2.03" generated-datetime="2026-01-01T00:00:00Z">\n'
  const texts = [anActivity(), aFullActivity()].map((one) => {
    const numbered = replaced(one, 'iati-identifier', (id) => ({ ...id, text: 'XM-DAC-47045-@' }))
    return `${writeElement(numbered)}\n`
  })
  for (let bytes = 0; bytes < bytesWanted; ) {
    activities += 1
    const text = texts[activities % texts.length]?.replace('-@', `-${activities}`) ?? ''
    bytes += text.length
    yield text
  }
  yield '</iati-activities>\n'
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'giving-validate-'))
  file = join(folder, 'large.xml')
  await pipeline(Readable.from(numberedActivities()), createWriteStream(file))
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

// The child tells its own peak when it ends.
const tellPeak = "process.on('exit',()=>process.stderr.write('peak='+process.resourceUsage().maxRSS+'\\n'))"

async function validated(environment: Record<string, string>, input?: string) {
  const installation: Installation = await newInstallation({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellPeak)}`,
    ...environment,
  })
  try {
    const started = performance.now()
    const { code, stdout, stderr } = await installation.run(
      ['validate', '--json', input === undefined ? file : '-'],
      input,
    )
    const seconds = (performance.now() - started) / 1000
    const peak = Number(/peak=(\d+)/.exec(stderr)?.[1])
    const [report] = JSON.parse(stdout) as { records: number; summary: { byCode: Record<string, number> } }[]
    console.log(
      `${activities} activities in ${seconds.toFixed(1)} s: ${Math.round(activities / seconds)} a second, peak ${Math.round(peak / 1024)} MB`,
    )
    return { code, peak, report }
  } finally {
    await installation.remove()
  }
}

const official = officialStandard('validating a large file with the official schema')

describe('a file of 61 MB is checked in constant memory', () => {
  it.each([
    ['by our own checks', {}],
    ...(official ? [['and by the official schema', { IATI_STANDARD_DIR: official }] as const] : []),
  ] as const)(
    '%s',
    async (_how, environment) => {
      const { code, peak, report } = await validated(environment)
      expect(report).toMatchObject({ records: activities })
      // What the activities refer to is not in the file, which is larger than consumers read.
      expect(report?.summary.byCode).toEqual({ 'file-too-large': 1, 'linked-activity-missing': 1 })
      expect(code).toBe(0)
      expect(peak).toBeLessThan(mostKilobytes)
    },
    300_000,
  )
})
