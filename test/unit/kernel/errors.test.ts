import { describe, expect, it } from 'vitest'
import { errorKinds, ServiceError, toServiceError } from '../../../src/kernel/errors.js'
import { readFirstTable, readProjectFile } from '../../support/documents/markdown-table.js'

describe('docs/reference/errors.md', () => {
  it('lists the codes of the error catalogue, in its order, and nothing else', () => {
    const expected = Object.entries(errorKinds).map(([code, entry]) => [
      code,
      String(entry.status),
      entry.remedy,
      entry.public ? 'reason' : 'request id',
      entry.meaning,
    ])
    expect(
      readFirstTable(readProjectFile('docs/reference/errors.md')),
      'write docs/reference/errors.md again from src/kernel/errors.ts',
    ).toEqual(expected)
  })
})

describe('the error catalogue', () => {
  it('knows only the statuses that clients know, and retries what may pass', () => {
    for (const [code, { status, remedy }] of Object.entries(errorKinds)) {
      expect([400, 401, 403, 404, 405, 410, 500, 503], code).toContain(status)
      if (status === 503) expect(remedy, code).toBe('retry')
      if (status < 500) expect(remedy, code).toBe('stop')
    }
  })

  it('tells every meaning in one sentence', () => {
    for (const [code, { meaning }] of Object.entries(errorKinds)) expect(meaning, code).toMatch(/^[A-Z][^\n|]*\.$/)
  })
})

describe('an error without a code', () => {
  it('becomes internal and keeps its cause', () => {
    const cause = new TypeError('x is undefined')
    expect(toServiceError(cause)).toMatchObject({ code: 'internal', status: 500, message: 'x is undefined', cause })
    expect(toServiceError('text')).toMatchObject({ code: 'internal', message: 'text' })
  })

  it('is left alone when it has one', () => {
    const error = new ServiceError('not-found', 'no project 7')
    expect(toServiceError(error)).toBe(error)
  })
})
