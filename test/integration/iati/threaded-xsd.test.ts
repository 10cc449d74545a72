import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createXsdValidator,
  openThreadedXsd,
  type SchemaCheck,
  validateFile,
} from '../../../src/iati/validation/index.js'
import type { Notice } from '../../../src/kernel/notice.js'
import { officialStandard } from '../../support/values/borrowed-files.js'
import { day } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const program = new URL('../../support/processes/xsd-thread.mjs', import.meta.url)
const dying = new URL('../../support/processes/dying-thread.mjs', import.meta.url)
const official = officialStandard('the official schema in a thread of its own')

/** So many activities; the schema, and nothing else, is asked about every tenth, which lacks all that is mandatory. */
async function* file(activities: number): AsyncGenerator<Buffer> {
  yield Buffer.from('<iati-activities version="2.03">')
  for (let number = 1; number <= activities; number++) {
    const rest = number % 10 === 0 ? '' : `<title><narrative>${'x'.repeat(2_000)}</narrative></title>`
    yield Buffer.from(`\n<iati-activity><iati-identifier>XM-${number}</iati-identifier>${rest}</iati-activity>`)
  }
  yield Buffer.from('</iati-activities>')
}

async function report(xsd: SchemaCheck) {
  const order: Notice[] = []
  const result = await validateFile('many.xml', {
    context: { today: day('2026-11-21') },
    input: file(1_000),
    onNotice: (notice) => order.push(notice),
    xsd,
  })
  return { order, result }
}

describe.runIf(official)('the official schema in a thread of its own', () => {
  it('says what it says in the thread of its caller, in the same order', async () => {
    const here = await createXsdValidator(official ?? '')
    const there = openThreadedXsd(official ?? '', program)
    if (!here || !there) throw new Error('expected the official schema')
    try {
      const threaded = await report(there)
      expect(threaded).toEqual(await report(here))
      expect(threaded.result.summary.byCode['xsd-invalid']).toBeGreaterThanOrEqual(1_000)
      expect(threaded.result.records).toBe(1_000)
    } finally {
      here.dispose()
      await there.dispose()
    }
  })

  it('fails the check when its thread dies, and every later one', async () => {
    const xsd = openThreadedXsd(official ?? '', dying)
    if (!xsd) throw new Error('expected a thread')
    const message = 'the thread of the official schema ended with 3'
    await expect(xsd.validate([Buffer.from('<iati-activity/>')], 'activity')).rejects.toThrow(message)
    await expect(xsd.validate([Buffer.from('<iati-activity/>')], 'activity')).rejects.toThrow(message)
    await xsd.dispose()
  })
})

describe('a folder without the official schema', () => {
  it('opens no thread', () => {
    expect(openThreadedXsd(import.meta.dirname, program)).toBeUndefined()
  })
})

describe('a folder with schemas that cannot be used', () => {
  it('is told to every question', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'schemas'))
    await writeFile(join(folder, 'schemas', 'xml.xsd'), '<schema/>')
    const xsd = openThreadedXsd(folder, program)
    try {
      for (const _ of [1, 2]) {
        await expect(xsd?.validate([Buffer.from('<iati-activity/>')], 'activity')).rejects.toMatchObject({
          code: 'standard-missing',
          message: expect.stringContaining('iati-activities-schema.xsd'),
        })
      }
    } finally {
      await xsd?.dispose()
    }
  })
})
