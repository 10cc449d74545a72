import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'

// Processes of tests start often and together: what was stripped once is kept, by its content.
const cache = path.resolve(import.meta.dirname, '../../../node_modules/.cache/giving-typescript')

/** A TypeScript file without its types. */
export async function stripTypes(file, text) {
  const kept = path.join(cache, `${createHash('sha256').update(text).digest('hex')}.mjs`)
  if (existsSync(kept)) return await readFile(kept, 'utf8')
  const { default: ts } = await import('typescript')
  const { outputText } = ts.transpileModule(text, {
    fileName: file,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  await mkdir(cache, { recursive: true })
  const draft = `${kept}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, outputText)
  await rename(draft, kept)
  return outputText
}
