import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

// Three folders above the source, four above the built file.
const file =
  ['../../..', '../../../..'].map((up) => path.join(import.meta.dirname, up, 'package.json')).find(existsSync) ?? ''
const own = JSON.parse(readFileSync(file, 'utf8')) as { version: string; peerDependencies: Record<string, string> }

export const { version } = own

/** What a message expects where a package is missing that only its users install; undefined where it is there. */
export function missingPackage(name: string): string | undefined {
  if (isInstalled(name)) return undefined
  const holder = path.resolve(file, '../..')
  const beside = existsSync(path.join(holder, '../package.json')) ? '' : '--global '
  // In a clone npm leaves out what package.json also has for development, and removes what such a command does not name again.
  const options = path.basename(holder) === 'node_modules' ? beside : '--no-save --save-prod --omit=dev '
  const wanted = Object.entries(own.peerDependencies).filter(([peer]) => peer === name || isInstalled(peer))
  return `the installed package ${name} (npm install ${options}${wanted.map((one) => one.join('@')).join(' ')})`
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}
