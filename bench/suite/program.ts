import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'

const project = path.resolve(import.meta.dirname, '../..')

/**
 * Strips the types of the program and the benches into a folder from which their packages resolve. Measured processes start
 * from there, as installed, since a loader takes time and memory. The caller removes the folder.
 */
export async function transpileProgram(): Promise<string> {
  const target = path.join(project, 'node_modules/.cache', `giving-bench-${randomBytes(4).toString('hex')}`)
  for (const room of ['src', 'jobs', 'bench']) {
    for (const entry of await readdir(path.join(project, room), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) await transpile(path.join(entry.parentPath, entry.name), target)
    }
  }
  await copyFile(path.join(project, 'package.json'), path.join(target, 'package.json'))
  return target
}

async function transpile(source: string, target: string): Promise<void> {
  const file = path.join(target, path.relative(project, source))
  await mkdir(path.dirname(file), { recursive: true })
  if (!source.endsWith('.ts')) return await copyFile(source, file)
  const { outputText } = ts.transpileModule(await readFile(source, 'utf8'), {
    fileName: source,
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  await writeFile(file.replace(/\.ts$/, '.js'), outputText)
}
