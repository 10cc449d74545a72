import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeElement } from '../../src/kernel/xml/writer.js'
import { newInstallation } from '../support/commands/cli.js'
import { anActivity, replaced } from '../support/iati/iati-records.js'
import { aFullActivity } from '../support/iati/mutants/index.js'
import { officialStandard } from '../support/values/borrowed-files.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { printsPeak } from './support/print-peak.js'

const mostKilobytes = 256 * 1024

let folder: string

beforeAll(async () => {
  folder = await temporaryFolder()
})

type Source = { activities: number; readonly texts: () => Generator<string> }

/** Small activities of every kind, as many as make a file of so many bytes. */
function smallActivities(bytesWanted: number): Source {
  const source: Source = {
    activities: 0,
    *texts() {
      source.activities = 0
      const texts = [anActivity(), aFullActivity()].map((one) => writeElement(numbered(one)))
      for (let bytes = 0; bytes < bytesWanted; ) {
        source.activities += 1
        const text = texts[source.activities % texts.length]?.replace('-@', `-${source.activities}`) ?? ''
        bytes += text.length
        yield text
      }
    },
  }
  return source
}

/** Activities with so many transactions that each has so many bytes. */
function largeActivities(activities: number, bytesWanted: number): Source {
  const parts = writeElement(numbered(anActivity())).split(/(<transaction .*?<\/transaction>)/s)
  const [head = '', transaction = '', tail = ''] = [parts[0], parts[1], parts.at(-1)]
  return {
    activities,
    *texts() {
      for (let nth = 1; nth <= activities; nth += 1) {
        yield head.replace('-@', `-${nth}`)
        for (let bytes = 0, at = 1; bytes < bytesWanted; at += 1) {
          const text = transaction.replace(/ ref="[^"]*"/, ` ref="t-${at}"`)
          bytes += text.length
          yield `${text}\n`
        }
        yield tail
      }
    },
  }
}

function numbered(activity: ReturnType<typeof anActivity>) {
  return replaced(activity, 'iati-identifier', (id) => ({ ...id, text: 'XM-DAC-47045-@' }))
}

async function written({ texts }: Source): Promise<string> {
  const file = join(folder, 'large.xml')
  function* document() {
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities version="2.03" generated-datetime="2026-01-01T00:00:00Z">\n'
    for (const text of texts()) yield text
    yield '</iati-activities>\n'
  }
  await pipeline(Readable.from(document()), createWriteStream(file))
  return file
}

type Report = { readonly records: number; readonly complete: boolean; readonly summary: { byCode: object } }

async function validated(file: string, environment: Readonly<Record<string, string>>) {
  const installation = await newInstallation({ NODE_OPTIONS: printsPeak, ...environment })
  try {
    const started = performance.now()
    const { code, stdout, stderr } = await installation.run(['validate', '--json', file])
    const seconds = (performance.now() - started) / 1000
    const peak = Number(/peak=(\d+)/.exec(stderr)?.[1])
    const [report] = JSON.parse(stdout) as Report[]
    console.log(`${report?.records} activities in ${seconds.toFixed(1)} s, peak ${Math.round(peak / 1024)} MiB`)
    return { code, peak, report }
  } finally {
    await installation.remove()
  }
}

const official = officialStandard('validating large files with the official schema')
const withSchema: [string, Record<string, string>][] = official
  ? [['and by the official schema', { IATI_STANDARD_DIR: official }]]
  : []

// What small activities refer to is not in the file.
const cases: readonly [what: string, source: Source, code: number, byOurs: object, bySchema: object][] = [
  [
    'a file of 61 MB',
    smallActivities(61_000_000),
    0,
    { 'file-too-large': 1, 'linked-activity-missing': 1 },
    { 'file-too-large': 1, 'linked-activity-missing': 1 },
  ],
  ['a file of 60 activities of 900 KB', largeActivities(60, 900_000), 0, {}, {}],
  ['a file of 30 activities of 1.9 MB', largeActivities(30, 1_900_000), 0, {}, {}],
  ['a file of 12 activities of 4.7 MB', largeActivities(12, 4_700_000), 0, {}, { 'schema-skipped': 12 }],
  ['an activity of 37 MB', largeActivities(1, 37_000_000), 1, { 'record-too-large': 1 }, { 'record-too-large': 1 }],
]

describe.each(cases)('%s is checked within 256 MiB', (_what, source, exitCode, byOurs, bySchema) => {
  it.each([['by our own checks', {}] as const, ...withSchema])(
    '%s',
    async (_how, environment) => {
      const { code, peak, report } = await validated(await written(source), environment)
      expect(report).toMatchObject({ records: source.activities, complete: true })
      expect(report?.summary.byCode).toEqual('IATI_STANDARD_DIR' in environment ? bySchema : byOurs)
      expect(code).toBe(exitCode)
      expect(peak).toBeLessThan(mostKilobytes)
    },
    600_000,
  )
})

describe('a file of 500 MB is checked within 250 MB', () => {
  it.each([['by our own checks', {}] as const, ...withSchema])(
    '%s',
    async (_how, environment) => {
      const source = smallActivities(500_000_000)
      const { code, peak, report } = await validated(await written(source), environment)
      expect(report).toMatchObject({ records: source.activities, complete: true })
      expect(code).toBe(0)
      expect(peak * 1024).toBeLessThan(250_000_000)
    },
    1_200_000,
  )
})
