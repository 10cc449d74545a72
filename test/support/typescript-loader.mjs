import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

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
  const { outputText } = ts.transpileModule(text, {
    fileName: url,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  return { format: 'module', source: outputText, shortCircuit: true }
}
