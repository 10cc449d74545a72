import { codeList, isActiveCode } from '../../iati/standard/index.js'
import { cellOfCsv } from '../../kernel/csv.js'
import type { FieldProblem } from '../../kernel/errors.js'

/** The problem of a theme that nobody has used: the command that adds it, as a DAC sector where its name is that of one. */
export function unknownTheme(theme: string): FieldProblem {
  const known = 'the id or name of a theme that giving themes list shows'
  const problem = { field: 'themes', got: theme }
  if (theme.length > 80 || /\p{Cc}/u.test(theme)) return { ...problem, expected: known }
  const sector = sectorNamed(theme)
  const cell = cellOfCsv(theme)
  const lines = sector ? ['id,sector', `${cell},${sector.code}`] : ['id', cell]
  const words = lines.map((line) => `'${line.replaceAll("'", "'\\''")}'`).join(' ')
  const as = sector ? `as DAC sector ${sector.code} (${sector.name})` : 'to your own vocabulary'
  const command = `printf '%s\\n' ${words} | giving import - --kind themes`
  return { ...problem, expected: `${known}; this adds it ${as}: ${command}` }
}

/** The active purpose code of five digits whose name this is, or begins so where no other does. */
function sectorNamed(name: string): { readonly code: string; readonly name: string } | undefined {
  const wanted = lettersOf(name)
  if (wanted === '') return undefined
  const sectors = [...codeList('Sector').codes].flatMap(([code, { name: official }]) =>
    isActiveCode('Sector', code) && lettersOf(official).startsWith(wanted) ? [{ code, name: official }] : [],
  )
  return sectors.find((one) => lettersOf(one.name) === wanted) ?? (sectors.length === 1 ? sectors[0] : undefined)
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
