import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

// Processes of tests start often and together: what was stripped once is kept, by its content.
const cache = path.resolve(import.meta.dirname, '../../node_modules/.cache/giving-typescript')

/** Finds `./x.ts` where a TypeScript file imports `./x.js`. */
export async function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const source = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL)
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true }
  }
  return await next(specifier, context)
}

/** Strips the types. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return await next(url, context)
  const text = await readFile(fileURLToPath(url), 'utf8')
  const kept = path.join(cache, `${createHash('sha256').update(text).digest('hex')}.mjs`)
  const source = existsSync(kept) ? await readFile(kept, 'utf8') : await strip(url, text, kept)
  return { format: 'module', source, shortCircuit: true }
}

async function strip(url, text, kept) {
  const { default: ts } = await import('typescript')
  const { outputText } = ts.transpileModule(text, {
    fileName: url,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  await mkdir(cache, { recursive: true })
  const draft = `${kept}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, outputText)
  await rename(draft, kept)
  return outputText
}
