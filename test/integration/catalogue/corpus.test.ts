import { describe, expect, it } from 'vitest'
import { testApi } from '../../support/api/api.js'
import { testDatabase } from '../../support/store/database.js'
import { type AnswersOfFile, answersOf, corpusFiles } from '../../support/values/corpus.js'

// What is slow or large is measured by the campaign.
describe('a hostile document', async () => {
  const { store } = await testDatabase()

  it('gets the same clear refusal as ever at each door: API, import, sync and validate', async () => {
    const api = await testApi(store)
    const answers: Record<string, AnswersOfFile> = {}
    const files = await corpusFiles()
    for (const file of files) answers[file.name] = await answersOf(api, file)
    expect(files.filter(({ type }) => type === 'application/xml').length).toBeGreaterThanOrEqual(100)
    expect(files.filter(({ type }) => type === 'application/json').length).toBeGreaterThanOrEqual(50)
    expect(Object.values(answers).filter(({ body }) => !/^4\d\d \S/.test(body))).toEqual([])
    expect(api.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
    await expect(`${JSON.stringify(answers, undefined, 1)}\n`).toMatchFileSnapshot('../../corpus/expected.json')
  })
})
