import { existsSync } from 'node:fs'
import path from 'node:path'
import { projectRoot } from './how-to.js'
import { readProjectFile } from './markdown-table.js'

/**
 * What is wrong with a cell of a table that names tests below `test`, as `` `file.test.ts`: title; `file.test.ts`: title ``: it
 * names none, one that is not there, or only such as are skipped without the files of others. Titles are as they are written in the file.
 */
export function missingTests(cell: string): string[] {
  const named = [...cell.matchAll(/`([^`]+\.test\.ts)`: ((?:(?!; `).)+)/g)]
  if (named.length === 0) return ['names no test']
  const isSkippable = ([, file = '']: readonly string[]) => borrows(file)
  if (named.every(isSkippable)) return ['names only tests that are skipped where the files of others are not']
  return named.flatMap(([all, file = '', title = '']) => {
    if (!existsSync(path.join(projectRoot, 'test', file))) return [`there is no test/${file}`]
    const text = readProjectFile(`test/${file}`)
    return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote},`)) ? [] : [`no such test: ${all}`]
  })
}

/** Whether all of a file is skipped without files that the repository may not contain. */
function borrows(file: string): boolean {
  if (!existsSync(path.join(projectRoot, 'test', file))) return false
  const text = readProjectFile(`test/${file}`)
  return text.includes('borrowed-files') && !/^(?:describe|it|test)(?:\.each)?[(<]/m.test(text)
}
