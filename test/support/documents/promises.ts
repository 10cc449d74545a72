import { existsSync } from 'node:fs'
import path from 'node:path'
import { projectRoot } from './how-to.js'
import { readProjectFile } from './markdown-table.js'

/** The tests below `test`, by file and title as it is written there, each with what it shows: `wire 1.1; asvs 1.2.3; security NAME`. */
const { tests, asvsDoesNotApply } = JSON.parse(readProjectFile('test/promises.json')) as {
  readonly tests: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly asvsDoesNotApply: Readonly<Record<string, string>>
}

/** Requirements of ASVS that do not apply, such as `3.3.1 to 3.3.5, 17`, with the reason. */
export { asvsDoesNotApply }

const shown = Object.entries(tests).flatMap(([file, titles]) =>
  Object.entries(titles).flatMap(([title, list]) => list.split('; ').map((promise) => ({ promise, file, title }))),
)

/** What tests show of a document: `wire`, `iati`, `security` or `asvs`, each once. */
export function promisesOf(document: string): string[] {
  const ofDocument = shown.filter(({ promise }) => promise.startsWith(`${document} `))
  return [...new Set(ofDocument.map(({ promise }) => promise.slice(document.length + 1)))]
}

/** What no test shows that can run anywhere: the test is not there, or is skipped without the files of others. */
export function unshownPromises(): string[] {
  const missing = Object.entries(tests).flatMap(([file, titles]) =>
    Object.keys(titles)
      .filter((title) => !hasTest(file, title))
      .map((title) => `test/${file} has no test "${title}"`),
  )
  const anywhere = new Set(shown.filter(({ file }) => !borrows(file)).map(({ promise }) => promise))
  const skippable = shown.filter(({ promise }) => !anywhere.has(promise))
  return [...missing, ...skippable.map(({ promise }) => `${promise}: all its tests need the files of others`)]
}

function hasTest(file: string, title: string): boolean {
  if (!existsSync(path.join(projectRoot, 'test', file))) return false
  const text = readProjectFile(`test/${file}`)
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote},`))
}

/** Whether all of a file is skipped without files that the repository may not contain. */
function borrows(file: string): boolean {
  if (!existsSync(path.join(projectRoot, 'test', file))) return false
  const text = readProjectFile(`test/${file}`)
  return text.includes('borrowed-files') && !/^(?:describe|it|test)(?:\.each)?[(<]/m.test(text)
}
