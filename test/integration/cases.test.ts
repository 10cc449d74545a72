import { cp, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { escapeInvisibleInJson } from '../../src/kernel/invisible-characters.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { pretty } from '../support/iati/pretty-xml.js'
import { testPublisher } from '../support/release/publishing.js'
import { someOf } from '../support/runner/some-of.js'
import { testDatabase } from '../support/store/database.js'
import { mappingConfig } from '../support/values/builders.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const root = path.resolve(import.meta.dirname, '../cases')
const cases = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory())
const temporary = await temporaryFolder()

/** What a case has unless a line of it says otherwise. */
const settings = {
  ...{ LOG_LEVEL: 'silent', BASE_URL: 'https://giving.example', DEFAULT_CURRENCY: 'EUR' },
  ...{ REPORTING_ORG_REF: mappingConfig.reportingOrg.ref },
}

const isVariable = /^([A-Z_]+)=(.*)$/

/** Words as a shell has them; what is within single quotes is one. */
const wordsOf = (line: string) => (line.match(/(?:[^\s']|'[^']*')+/g) ?? []).map((word) => word.replaceAll("'", ''))

/** Rows as SQL tells them: names as they are stored, days and amounts as text. */
const rowsOf = async (url: string, text: string): Promise<object[]> => {
  const types = { getTypeParser: (oid: number) => parsers.get(oid) ?? pg.types.getTypeParser(oid) }
  const client = new pg.Client({ connectionString: url, types: types as never })
  await client.connect()
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.DATE, String],
  [pg.types.builtins.INT8, Number],
])

/** What repeats the list of problems, and what a line without --json prints. */
const leftOut = ['problemCount', 'groups', 'receipt']

/** An answer without the members that say nothing: zeros and empty lists. */
const telling = (answer: object) =>
  Object.fromEntries(
    Object.entries(answer).filter(([name, value]) => !leftOut.includes(name) && value !== 0 && String(value) !== ''),
  )

/** JSON with as much on a line as a person reads. */
function readable(value: unknown, indent = ''): string {
  const whole = escapeInvisibleInJson(JSON.stringify(value))
  if (whole.length + indent.length <= 150 || typeof value !== 'object' || value === null) return whole
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Object.entries(value).map(([name, one]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `
    return `${indent}  ${key}${readable(one, `${indent}  `)}`
  })
  return `${open}\n${members.join(',\n')}\n${indent}${close}`
}

it.each(someOf(cases, 2).map(({ name }) => name))('test/cases/%s answers as its out.json says', async (name) => {
  const folder = path.join(temporary, name)
  await cp(path.join(root, name), folder, { recursive: true })
  const files = await readdir(folder)
  const database = await testDatabase()
  const lines = (await readFile(path.join(folder, 'arguments'), 'utf8')).split('\n')
  const environment: Record<string, string> = {
    ...{ ...settings, DATABASE_URL: database.url, GIVING_DATA_DIR: folder },
    ...Object.fromEntries(lines.flatMap((line) => [isVariable.exec(line)?.slice(1) ?? []]).filter(([name]) => name)),
  }

  const { reportingOrg } = mappingConfig
  const { REPORTING_ORG_REF: ref = reportingOrg.ref, REPORTING_ORG_NAME: called = reportingOrg.name } = environment
  const publisher = await testPublisher(database.store, {
    mappingConfig: { ...mappingConfig, reportingOrg: { ...reportingOrg, ref, name: called } },
  })

  const linesOf = (text: string) => {
    const named = text.replaceAll(`${folder}/`, '')
    return named.split('\n').slice(0, named.endsWith('\n') ? -1 : undefined)
  }

  const answerTo = async (line: string): Promise<object> => {
    const [verb = '', ...rest] = wordsOf(line)
    if (verb === 'select') return { rows: await rowsOf(database.url, line) }
    if (verb === 'cat') return { text: linesOf(await readFile(path.join(folder, rest[0] ?? ''), 'utf8')) }
    if (verb === 'publish') {
      const { state, rendered, changed } = await publisher.publish()
      return { state, rendered, changed }
    }
    if (verb === 'live') {
      const text = await publisher.read(rest[0] ?? '')
      return { text: linesOf(text.startsWith('<') ? pretty(text) : text) }
    }
    const args = [
      verb,
      ...rest.map((word) => (files.includes(word) || word.startsWith('out.') ? path.join(folder, word) : word)),
    ]
    const { code, stdout, stderr } = await runCommandLine(args, environment)
    const printed = linesOf(stdout)
    const answer = args.includes('--json') && stdout !== '' ? JSON.parse(printed.join('\n')) : undefined
    return telling({ code, ...(answer ? { answer: telling(answer as object) } : { printed }), notes: linesOf(stderr) })
  }

  const answers: object[] = []
  for (const line of lines.filter((one) => !isVariable.test(one) && !/^(#|$)/.test(one))) {
    answers.push({ line, ...(await answerTo(line)) })
  }
  await database.drop()
  await expect(`${readable(answers)}\n`).toMatchFileSnapshot(path.join(root, name, 'out.json'))
})
