import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { projectList } from '../../../src/catalogue/wire/names.js'
import { listDocument } from '../../../src/catalogue/wire/write/list.js'
import { projectTexts } from '../../../src/catalogue/wire/write/project.js'
import { string } from '../../../src/catalogue/wire/write/wire-value.js'
import { errorDocument } from '../../../src/http/api/representations/error-response.js'
import { answerDocument, getToken } from '../../../src/http/api/routes/account-operations.js'
import { wellsForTara } from '../../support/values/wells-for-tara.js'

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

describe('documents of the API, byte for byte', () => {
  it.each(['xml', 'json'] as const)('writes a list page as wire.md 4.3 says (%s)', (format) => {
    const records = projectTexts(wellsForTara)[format]
    expect(listDocument(format, projectList, { records, numberFound: 64, next: 2061 }).join('')).toBe(
      golden(`projects.${format}`),
    )
  })

  it.each(['xml', 'json'] as const)('writes the last page without hasNext and nextProjectId (%s)', (format) => {
    expect(listDocument(format, projectList, { records: '', numberFound: 0 }).join('')).toBe(
      golden(`projects-none.${format}`),
    )
  })

  it.each(['xml', 'json'] as const)('writes a token (%s)', (format) => {
    expect(answerDocument(format, getToken, string('q7d1m0x4k9b2v8s3t6y5w1z0a4c7e9f2h8j3l6n5'))).toBe(
      golden(`token.${format}`),
    )
  })

  it.each(['xml', 'json'] as const)('writes an error (%s)', (format) => {
    const errors = [{ message: 'api_key 5a0c1d2e-0000-4000-8000-00000000beef is not registered' }]
    expect(errorDocument(format, { status: 401, errors })).toBe(golden(`error.${format}`))
  })
})
