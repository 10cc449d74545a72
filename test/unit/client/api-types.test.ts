import path from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import {
  committedDescription,
  type MediaType,
  operationsOf,
  type responseOf,
} from '../../support/api/api-description.js'
import { projectRoot } from '../../support/documents/how-to.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'

const json = 'application/json'
const description = committedDescription()

/** Every JSON example of the description with its type, as a statement of TypeScript on one line. */
function examples(): string[] {
  const statements = (type: string, holder: ReturnType<typeof responseOf> | undefined) => {
    const { example } = (holder?.content?.[json] ?? {}) as Partial<MediaType>
    return example === undefined ? [] : [statement(`${type}['content']['${json}']`, example)]
  }
  const ofOperations = operationsOf(description).flatMap(({ method, path: address, operation }) => {
    const type = `paths['${address}']['${method.toLowerCase()}']`
    return [
      ...statements(`${type}['requestBody']`, operation.requestBody),
      ...Object.entries(operation.responses).flatMap(([status, answer]) =>
        statements(`${type}['responses'][${status}]`, answer),
      ),
    ]
  })
  const ofFailures = Object.entries(description.components.responses ?? {}).flatMap(([name, answer]) =>
    statements(`components['responses']['${name}']`, answer),
  )
  return [...ofOperations, ...ofFailures]
}

function statement(type: string, value: unknown): string {
  return `_ = ${JSON.stringify(value)} satisfies ${type}`
}

/** The lines with errors by file, of sources that exist here only, in the folder of the client. */
function linesWithErrors(sources: Readonly<Record<string, string>>): Record<string, number[]> {
  const options: ts.CompilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] },
    ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  const inMemory = new Map(
    Object.entries(sources).map(([name, text]) => [path.join(projectRoot, 'src/client', name), text]),
  )
  host.readFile = (file) => inMemory.get(path.normalize(file)) ?? readFile(file)
  host.fileExists = (file) => inMemory.has(path.normalize(file)) || fileExists(file)
  const program = ts.createProgram([...inMemory.keys()], options, host)
  const found: Record<string, number[]> = {}
  for (const { file, start = 0, messageText } of ts.getPreEmitDiagnostics(program)) {
    if (!file) throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'))
    const name = path.basename(file.fileName)
    found[name] = [...(found[name] ?? []), file.getLineAndCharacterOfPosition(start).line]
  }
  return found
}

it('every JSON example of openapi.json fits its type, and the code in docs/how-to/clients.md compiles', () => {
  const shown = examples()
  expect(shown.length).toBeGreaterThan(70)
  const theme = "components['schemas']['Theme']"
  const wrong = [
    statement(theme, { id: 'water' }),
    statement(theme, { id: 1, name: 'Water' }),
    statement(theme, { id: 'water', name: 'Water', color: 'blue' }),
  ]
  const lines = [
    "import type { components, paths } from './api-types.js'",
    'export let _: unknown',
    statement(theme, { id: 'water', name: 'Water' }),
    ...shown,
    ...wrong,
  ]
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readProjectFile('docs/how-to/clients.md')) ?? []
  expect(code).toContain("'giving-iati/client'")
  const found = linesWithErrors({
    'examples.ts': lines.join('\n'),
    'page.ts': code.replace('giving-iati/client', './client.js'),
  })
  // The types refuse what is wrong, and only that.
  expect(found).toEqual({ 'examples.ts': wrong.map((_line, index) => lines.length - wrong.length + index) })
})
