import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFirstTable, readProjectFile } from './markdown-table.js'

/** The root of the project. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** A page of `docs/how-to`: the files that it names, and the change that it shows. */
export type HowTo = {
  readonly name: string
  readonly files: readonly string[]
  /** Files of the change, in its order. */
  readonly touched: readonly string[]
  readonly diff: string
  /** What golden files say with the change, and without it do not. */
  readonly appears: string | undefined
}

// The pages for developers, in the order in which their changes are applied; the others are for operators.
const developersPages = ['api-operation', 'column', 'iati-element', 'job', 'validation-rule']

/** The pages for developers. */
export function readHowTos(): HowTo[] {
  return developersPages.map((name) => {
    const text = readProjectFile(`docs/how-to/${name}.md`)
    const diff = /\n```diff\n([\s\S]*?)```/.exec(text)?.[1]?.replaceAll('NNNN', nextMigration())
    if (diff === undefined) throw new Error(`docs/how-to/${name}.md has no block of a diff`)
    return {
      name,
      files: readFirstTable(text).map(([file = '']) => file.replace('NNNN', nextMigration())),
      touched: [...diff.matchAll(/^diff --git a\/\S+ b\/(\S+)$/gm)].map(([, file = '']) => file),
      diff,
      appears: /\n```(?:xml|json)\n([\s\S]*?)\n```/.exec(text)?.[1],
    }
  })
}

function nextMigration(): string {
  const numbers = readdirSync(path.join(projectRoot, 'src/platform/database/migrations')).map((file) =>
    Number.parseInt(file, 10),
  )
  return String(Math.max(...numbers) + 1).padStart(4, '0')
}

/** Applies a page's change to the sources in a folder, or takes it away; returns what went wrong, or nothing. */
export function applyHowTo({ name, diff }: HowTo, folder: string, ...options: '--reverse'[]): string {
  const { status, stderr, error } = spawnSync('git', ['apply', '--whitespace=nowarn', ...options, '-'], {
    cwd: folder,
    input: diff,
    encoding: 'utf8',
    // A folder inside of a repository would otherwise be taken for a part of it.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(folder) },
  })
  return status === 0 ? '' : `docs/how-to/${name}.md: ${error?.message ?? stderr}`
}
