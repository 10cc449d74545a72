import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import ts from 'typescript'
import { projectRoot } from '../documents/how-to.js'
import { randomFrom } from '../values/random.js'
import { type Change, type Opaque, sqlChanges } from './sql-mutants.js'

/** A program that differs from ours in one small place. */
export type Mutant = Change & {
  readonly room: string
  readonly file: string
  readonly line: number
  readonly original: string
  /** The functions around the place, the inmost first. */
  readonly functions: readonly string[]
  /** Of a mutant of the schema: what makes it in a database, what unmakes it, and the function or the table it is about. */
  readonly schema?: { readonly make: string; readonly unmake: string; readonly about: string }
}

const schemaFile = 'test/support/store/schema/schema.sql'

/** What of the program a row of the table is about; a file belongs to the first that names it. Stryker mutates the pure rooms. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  mail: ['src/platform/mail', 'src/accounts/mail-account-codes.ts', 'src/money/receipts'],
  accounts: ['src/accounts'],
  'statements of the catalogue': ['src/catalogue/sql', 'src/platform/database'],
  'statements of money': ['src/money/sql'],
  'statements of releases and runs': ['src/release/sql', 'src/work/sql'],
  import: ['src/catalogue/import', 'src/extensions/sources', 'src/catalogue/export'],
  sync: ['src/catalogue/sync'],
  payments: ['src/money'],
  'release operation': ['src/release'],
  runs: ['src/work', 'jobs'],
  commands: ['src/cli'],
  console: ['src/extensions/console'],
  portal: ['src/extensions/portal', 'src/http/pages'],
  API: ['src/http/api'],
  'registry and bucket': ['src/extensions/registry', 'src/extensions/bucket'],
  'triggers and functions': [schemaFile],
}

/** Words, colours, schemas and lists: what they say is compared with documents, not computed. */
const leftOut = /\/(words|standard|charts|style|icon|contract)[/.]|worker-thread|migrations\//

/**
 * `count` mutants drawn by `seed`, as many of each room as of any other, or of each of several `places`: the same seed draws the
 * same from the same sources.
 */
export async function drawMutants(seed: number, count: number, places: readonly string[]): Promise<Mutant[]> {
  const files = ['src', 'jobs']
    .flatMap((root) => readdirSync(path.join(projectRoot, root), { recursive: true }).map((file) => `${root}/${file}`))
    .filter((file) => file.endsWith('.ts') && !leftOut.test(file))
  const roomOf = (file: string) => {
    const place = places.find((one) => isBelow(file, one))
    if (place === undefined || places.length > 1) return place
    return Object.keys(rooms).find((name) => rooms[name]?.some((one) => isBelow(file, one)))
  }
  const all: Mutant[] = []
  for (const file of files.sort()) {
    const room = roomOf(file)
    if (room !== undefined) all.push(...(await mutantsOf(file, room)))
  }
  const schemaRoom = roomOf(schemaFile)
  if (schemaRoom !== undefined) all.push(...schemaMutants(schemaRoom))
  const random = randomFrom(seed)
  const roomNames = places.length > 1 ? places : Object.keys(rooms)
  const byRoom = roomNames.map((room) =>
    shuffled(
      all.filter((mutant) => mutant.room === room),
      random,
    ),
  )
  // One of each room in turn, so that a run that is broken off has asked about every room.
  return Array.from({ length: count }, (_, round) => byRoom.flatMap((mutants) => mutants.slice(round, round + 1)))
    .flat()
    .slice(0, count)
}

function isBelow(file: string, place: string): boolean {
  return file === place || file.startsWith(place === '' || place.endsWith('/') ? place : `${place}/`)
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}

const nothing = () => undefined
const never = () => false
const instrumenter = new Instrumenter({
  ...{ trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing },
  ...{ isTraceEnabled: never, isDebugEnabled: never, isInfoEnabled: never, isWarnEnabled: never },
  ...{ isErrorEnabled: never, isFatalEnabled: never },
})

async function mutantsOf(file: string, room: string): Promise<Mutant[]> {
  const content = readFileSync(path.join(projectRoot, file), 'utf8')
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true)
  const { mutants } = await instrumenter.instrument([{ name: file, content, mutate: true }], {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  })
  // Texts for people are compared by golden files, statements have rules of their own.
  const computed = mutants.filter(({ mutatorName }) => mutatorName !== 'StringLiteral')
  const changes: Change[] = computed.map(({ location, replacement, mutatorName }) => ({
    start: source.getPositionOfLineAndCharacter(location.start.line, location.start.column),
    end: source.getPositionOfLineAndCharacter(location.end.line, location.end.column),
    replacement,
    rule: mutatorName,
  }))
  for (const statement of statementsOf(source)) {
    const text = content.slice(statement.start, statement.end)
    const opaque = statement.opaque.map(({ start, end }) => ({
      start: start - statement.start,
      end: end - statement.start,
    }))
    for (const change of sqlChanges(text, opaque)) {
      const at = { start: change.start + statement.start, end: change.end + statement.start }
      changes.push({ ...change, ...at, rule: `SQL: ${change.rule}` })
    }
  }
  return changes.map((change) => ({
    ...change,
    room,
    file,
    line: source.getLineAndCharacterOfPosition(change.start).line + 1,
    original: content.slice(change.start, change.end),
    functions: functionsAround(source, change.start),
  }))
}

const isStatement =
  /^\s*(?:\(?select|insert into|update|delete from|with|where|and|or|from|left join|join|exists|not exists|case|order by|lateral)\b|\b(?:select [^.]* from|where|insert into \w+|delete from \w+|update \w+ set|on conflict)\b/

/** The literals of a file that are SQL, with what the program puts into them. */
function statementsOf(source: ts.SourceFile): (Opaque & { readonly opaque: readonly Opaque[] })[] {
  if (!/\/(sql|database)\//.test(source.fileName)) return []
  const found: (Opaque & { readonly opaque: readonly Opaque[] })[] = []
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
      const [start, end] = [node.getStart(source) + 1, node.getEnd() - 1]
      if (isStatement.test(source.text.slice(start, end))) {
        const spans = ts.isTemplateExpression(node) ? node.templateSpans : []
        found.push({
          start,
          end,
          opaque: spans.map((span) => ({ start: span.getFullStart() - 2, end: span.literal.getStart(source) + 1 })),
        })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function functionsAround(source: ts.SourceFile, position: number): string[] {
  const names: string[] = []
  const visit = (node: ts.Node) => {
    if (position < node.getFullStart() || position >= node.getEnd()) return
    if (ts.isFunctionLike(node)) {
      const named =
        node.name ??
        (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined)
      const name = ts.isConstructorDeclaration(node) ? className(node) : named?.getText(source)
      if (name !== undefined) names.unshift(name)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

function className(node: ts.ConstructorDeclaration): string | undefined {
  return ts.isClassDeclaration(node.parent) ? node.parent.name?.text : undefined
}

/** The mutants of the functions in the database, and of each table without one of its triggers. */
function schemaMutants(room: string): Mutant[] {
  const schema = readFileSync(path.join(projectRoot, schemaFile), 'utf8')
  const found: Mutant[] = []
  const lineAt = (position: number) => schema.slice(0, position).split('\n').length
  for (const match of schema.matchAll(
    /^CREATE OR REPLACE FUNCTION public\.(\w+)[\s\S]*?AS \$(\w+)\$([\s\S]*?)\$\2\$;/gm,
  )) {
    const [whole, name = '', , body = ''] = match
    const from = match.index + whole.lastIndexOf(body)
    for (const change of sqlChanges(body)) {
      const mutated = body.slice(0, change.start) + change.replacement + body.slice(change.end)
      found.push({
        ...change,
        rule: `SQL: ${change.rule}`,
        room,
        file: schemaFile,
        line: lineAt(from + change.start),
        original: body.slice(change.start, change.end),
        functions: [name],
        schema: { make: whole.replace(body, () => mutated), unmake: whole, about: name },
      })
    }
  }
  for (const match of schema.matchAll(/^CREATE TRIGGER (\w+) [\s\S]*? ON (\w+) [\s\S]*?;$/gm)) {
    const [whole, name = '', table = ''] = match
    found.push({
      start: match.index,
      end: match.index + whole.length,
      replacement: '',
      rule: 'trigger dropped',
      room,
      file: schemaFile,
      line: lineAt(match.index),
      original: `${name} on ${table}`,
      functions: [],
      schema: { make: `drop trigger ${name} on ${table}`, unmake: whole, about: table },
    })
  }
  return found
}
