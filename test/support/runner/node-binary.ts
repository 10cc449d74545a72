import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const cache = path.resolve(import.meta.dirname, '../../../node_modules/.cache')

/** The program of a version of Node, from the npm package that holds it; it is fetched once. */
export async function nodeBinary(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`
  return path.join(await installed(`node-${version}`, `${name}@${version}`), name, 'bin/node')
}

/** The folder of an npm package and its dependencies, installed once into a folder of its own. */
export async function installed(folder: string, ...packages: readonly string[]): Promise<string> {
  const prefix = path.join(cache, folder)
  const modules = path.join(prefix, 'node_modules')
  if (!existsSync(path.join(modules, '.package-lock.json'))) {
    await mkdir(prefix, { recursive: true })
    await promisify(execFile)('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', ...packages])
  }
  return modules
}
