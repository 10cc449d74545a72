import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { projectList } from '../../../src/catalogue/wire/names.js'
import { readPage } from '../../../src/catalogue/wire/read/upstream-documents.js'
import { validateFile } from '../../../src/iati/validation/index.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import { ServiceError } from '../../../src/kernel/errors.js'
import type { TestApi } from '../api/api.js'
import { usd } from './builders.js'

const folder = path.resolve(import.meta.dirname, '../../corpus')

/** A hostile document. */
export type CorpusFile = {
  readonly name: string
  readonly path: string
  readonly type: 'application/xml' | 'application/json'
  readonly bytes: Buffer
}

/** What every door of the service says of a document; kept in `test/corpus/expected.json`. */
export type AnswersOfFile = Readonly<Record<'body' | 'import' | 'sync' | 'validate', string>>

export async function corpusFiles(): Promise<CorpusFile[]> {
  const files: CorpusFile[] = []
  for (const kind of ['xml', 'json'] as const) {
    for (const name of (await readdir(path.join(folder, kind))).sort()) {
      const file = path.join(folder, kind, name)
      files.push({ name: `${kind}/${name}`, path: file, type: `application/${kind}`, bytes: await readFile(file) })
    }
  }
  return files
}

/** Sends, imports, mirrors and validates a document. */
export async function answersOf(api: TestApi, file: CorpusFile): Promise<AnswersOfFile> {
  const { store, clock } = api.deps
  return {
    body: await answerToBody(api, file),
    import: await said(async () => {
      const options = { source: 'import', clock, currency: usd, dryRun: true } as const
      const { records, refused, brokenFiles, problems } = await importFiles(store, [file.path], options)
      const [first] = problems
      const why = first ? `: ${first.field}: expected ${first.expected}, got ${first.got ?? 'nothing'}` : ''
      return `${records} records, ${refused} refused, ${brokenFiles} broken files${why}`
    }),
    sync: await said(async () => `${(await readPage(file.bytes, projectList)).records.length} records`),
    validate: await said(async () => {
      const { records, summary, samples } = await validateFile(file.path, { context: { today } })
      const [first] = samples
      return `${records} records, ${summary.errors} errors${first ? `: ${first.code} at ${first.path}` : ''}`
    }),
  }
}

const today = '2026-11-22' as IsoDate

/** The status of the answer to a document as the body of a request, and what the answer says. */
export async function answerToBody({ app }: TestApi, { bytes, type }: CorpusFile): Promise<string> {
  const url = '/api/userservice/tokens'
  const headers = { 'content-type': type, accept: 'application/json' }
  const answer = await app.inject({ method: 'POST', url, headers, payload: bytes })
  const { errors } = answer.json().error_response
  return `${answer.statusCode} ${errors.error.map((error: { error_message: string }) => error.error_message).join('; ')}`
}

async function said(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message.replace(folder, '')}`
    throw error
  }
}
