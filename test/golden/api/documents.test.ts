import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { authDocument } from '../../../src/api/representations/auth-response.js'
import { errorDocument } from '../../../src/api/representations/error-response.js'
import { projectListDocument } from '../../../src/api/representations/project-list.js'
import { projectRecord } from '../../../src/wire/write/project.js'
import { wellsForTara } from '../../support/wells-for-tara.js'

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

describe('documents of the API, byte for byte', () => {
  it.each(['xml', 'json'] as const)('writes a list page as wire.md 4.3 says (%s)', (format) => {
    const records = projectRecord(wellsForTara)[format]
    expect(projectListDocument(format, { records, numberFound: 64, nextProjectId: 2061 }).join('')).toBe(
      golden(`projects.${format}`),
    )
  })

  it.each(['xml', 'json'] as const)('writes the last page without hasNext and nextProjectId (%s)', (format) => {
    expect(projectListDocument(format, { records: '', numberFound: 0 }).join('')).toBe(
      golden(`projects-none.${format}`),
    )
  })

  it.each(['xml', 'json'] as const)('writes a token (%s)', (format) => {
    expect(authDocument(format, 'q7d1m0x4k9b2v8s3t6y5w1z0a4c7e9f2h8j3l6n5')).toBe(golden(`token.${format}`))
  })

  it.each(['xml', 'json'] as const)('writes an error (%s)', (format) => {
    const messages = ['api_key 5a0c1d2e-0000-4000-8000-00000000beef is not registered']
    expect(errorDocument(format, { status: 401, messages })).toBe(golden(`error.${format}`))
  })
})
