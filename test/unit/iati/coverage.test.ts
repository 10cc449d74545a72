import { XmlDocument } from 'libxml2-wasm'
import { describe, expect, it } from 'vitest'
import { iatiEnvelope } from '../../../src/iati/mapping/envelope.js'
import type { IsoInstant } from '../../../src/kernel/dates.js'
import { readProjectFile, readTable } from '../../support/documents/markdown-table.js'

const rows = readTable(readProjectFile('docs/reference/coverage.md'), '| Field | Path').map(
  ([field = '', path = '', is = '', always = '']) => ({ field, path: path.replaceAll('\\|', '|'), is, always }),
)

/** Which of the paths are in a golden activity. */
function foundIn(name: string): string[] {
  const activity = readProjectFile(`test/golden/iati/${name}-activity.xml`).replace(/^<\?xml.*\?>/, '')
  const { head, tail } = iatiEnvelope('iati-activities', '2026-11-21T00:00:00Z' as IsoInstant)
  const document = XmlDocument.fromString(head + activity + tail)
  try {
    const root = document.get('/iati-activities/iati-activity')
    return rows.filter(({ path }) => root?.get(path)).map(({ field }) => field)
  } finally {
    document.dispose()
  }
}

const fields = (which: (row: (typeof rows)[number]) => boolean) => rows.filter(which).map(({ field }) => field)

describe('docs/reference/coverage.md', () => {
  it('calls published or derived what an activity with all data has, and no other field', () => {
    expect(foundIn('full')).toEqual(fields(({ is }) => is === 'published' || is === 'derived'))
    expect(fields(({ is }) => !['published', 'derived', 'not known'].includes(is))).toEqual([])
  })

  it('says which fields the activity of a project with nothing but a title has', () => {
    expect(foundIn('bare')).toEqual(fields(({ always }) => always === 'yes'))
  })
})
