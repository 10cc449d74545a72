import type { Command } from 'commander'
import { describeObstacle, describeUndone, takeImportBack } from '../../catalogue/import/take-back.js'
import { findImport, type ImportDetails, type ImportRow, listImports } from '../../catalogue/sql/imports.js'
import type { ImportReceipt } from '../../catalogue/sql/receipts.js'
import { instantsInText, isoInstantOf } from '../../kernel/dates.js'
import { addCommand, type CommandLine, orNotFound, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { userOfProcess } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'
import { movedLines } from './import.js'

/** `giving imports`. */
export function registerImports(program: Command, { storeAction }: CommandLine): void {
  const imports = program.command('imports').description('show what was imported and by whom; take an import back')
  addCommand(imports, 'list', 'list imports, newest first')
    .option('--before <number>', 'only imports before this one', wholeNumber)
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .action(storeAction([], list))
  addCommand(imports, 'show', 'show an import: its files with their hashes, and its first problems')
    .argument('<number>', 'number of the import', wholeNumber)
    .action(storeAction([], show))
  addCommand(
    imports,
    'undo',
    'take an import back: remove what it created, restore what it changed; exit code 1 when something depends on it',
  )
    .argument('<number>', 'number of the import', wholeNumber)
    .option('--dry-run', 'show what would be removed and restored, and change nothing', false)
    .action(storeAction([], undo))
}

async function list(
  { store }: Runtime,
  output: Output,
  { before, limit }: { readonly before?: number; readonly limit: number },
): Promise<number> {
  const imports = await listImports(store.db, { limit, ...(before !== undefined && { before }) })
  return output.result({ imports: imports.map(instantsInText) }, () => imports.map(describe), {
    note: imports.length === 0 && 'nothing was imported',
  })
}

async function show({ store }: Runtime, output: Output, id: number): Promise<number> {
  const found = orNotFound(await findImport(store.db, id), `there is no import ${id}: see giving imports list`)
  return output.result(instantsInText(found), () => details(found))
}

/** Exit code 0 when it was, or would be, taken back; 1 when something depends on it. */
async function undo(runtime: Runtime, output: Output, id: number, { dryRun }: { dryRun: boolean }): Promise<number> {
  const undone = await takeImportBack(runtime, id, { dryRun, operator: userOfProcess() })
  if ('obstacles' in undone) {
    const { obstacles } = undone
    return output.result(
      { obstacles },
      () => [`import ${id} stays: something depends on it`, ...obstacles.map((one) => `  ${describeObstacle(one)}`)],
      { code: 1 },
    )
  }
  return output.result(dryRun ? { ...undone, dryRun } : undone, () => [
    `${dryRun ? 'dry run, ' : ''}import ${id} ${dryRun ? 'would be' : 'is'} taken back`,
    ...describeUndone(undone).map((line) => `  ${line}`),
  ])
}

function describe({ id, state, startedAt, finishedAt, actor, files, ...counts }: ImportRow): string {
  const { created, changed, unchanged, refused } = counts
  const [first, ...others] = files.map(({ name }) => name)
  const names = others.length === 0 ? (first ?? 'no file yet') : `${first} and ${others.length} more`
  const isEmpty = state === 'done' && refused > 0 && created + changed + unchanged === 0
  const ended = isEmpty ? 'nothing taken' : state === 'running' && !finishedAt ? 'not ended' : state
  return `${id}  ${isoInstantOf(startedAt)}  ${ended.padEnd(9)}  ${created} created, ${changed} changed, ${refused} refused  ${names} (${actor})`
}

function details(found: ImportDetails): string[] {
  const {
    startedAt,
    finishedAt,
    undoneAt,
    undoneBy,
    actor,
    origin,
    files,
    problems,
    problemCount,
    remembered,
    receipt,
  } = found
  return [
    describe(found),
    ...labelled(
      [
        ['by', `${actor} from ${origin}`],
        ['started', isoInstantOf(startedAt)],
        ['ended', finishedAt && isoInstantOf(finishedAt)],
        ['taken back', undoneAt && `${isoInstantOf(undoneAt)} by ${undoneBy}`],
        ['rows', `${remembered} that giving imports undo would take back`],
      ],
      12,
    ),
    ...files.map(
      ({ name, kind = 'unreadable', sha256, records, created, changed, unchanged, refused }) =>
        `${name}: ${kind}, ${records} records: ${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused; sha256 ${sha256 ?? 'unknown: not read to its end'}`,
    ),
    ...(receipt ? describeReceipt(receipt) : []),
    ...problems.map(({ file, line, recordId, field, expected, got }) => {
      const place = [file, line && `line ${line}`, recordId && `record ${recordId}`].filter(Boolean).join(', ')
      return `  ${place}, ${field}: expected ${expected}${got === undefined ? '' : `, got ${JSON.stringify(got)}`}`
    }),
    ...movedLines(found),
    ...(problemCount > problems.length ? [`  ${problemCount - problems.length} more problems`] : []),
  ]
}

function describeReceipt({ rows, sums, unreadable, recipe, refusedBy = {} }: ImportReceipt): string[] {
  const known = rows.known > 0 ? ` (${rows.known} of files that were known)` : ''
  return [
    `receipt: ${rows.in} rows = ${rows.taken} taken${known} + ${rows.refused} refused + ${rows.leftOut} left out + ${rows.replaced} replaced by later ones`,
    ...Object.entries(refusedBy).map(([reason, count]) => `  ${count} refused, ${reason}`),
    ...(unreadable > 0 ? [`  ${unreadable} rows have no readable amount, and are in no sum`] : []),
    ...sums.map(({ currency, kind, month, file, taken, refused, leftOut, before, after }) => {
      const store = after === undefined ? '' : `; in the store ${before} before, ${after} afterwards`
      return `  ${month} ${currency} ${kind}: ${file} = ${taken} taken + ${refused} refused + ${leftOut} left out${store}`
    }),
    ...(recipe === undefined ? [] : [`  read by a recipe with the SHA-256 ${recipe}`]),
  ]
}
