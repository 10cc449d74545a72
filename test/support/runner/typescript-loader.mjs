import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { stripTypes } from './strip-types.mjs'

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
  const source = await stripTypes(url, await readFile(fileURLToPath(url), 'utf8'))
  return { format: 'module', source, shortCircuit: true }
}
