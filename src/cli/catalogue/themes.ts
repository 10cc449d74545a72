import type { Command } from 'commander'
import { listThemesInUse, type ThemeInUse } from '../../catalogue/sql/reference-lists.js'
import { changeTheme } from '../../catalogue/sql/theme-sectors.js'
import { codeName, isActiveCode } from '../../iati/standard/index.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Store } from '../../platform/database/store.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving themes`. */
export function registerThemes(program: Command, { storeAction }: CommandLine): void {
  const themes = program.command('themes').description('the platform’s themes and the IATI sectors they stand for')
  addCommand(themes, 'list', 'list themes with their OECD DAC purpose codes').action(storeAction([], list))
  addCommand(themes, 'map', 'report a theme under another purpose code from the next publication on')
    .argument('<theme>', 'the id of the theme')
    .argument('<code>', 'an active code of the IATI Sector list, five digits')
    .option('--humanitarian', 'report its projects as humanitarian; default: as before')
    .option('--no-humanitarian', 'no longer report them as humanitarian')
    .hook('preAction', ({ processedArgs: [, code] }) => requireActiveCode(code))
    .action(storeAction([], map))
  addCommand(themes, 'rename', 'rename a theme; records and upstreams no longer change its name')
    .argument('<theme>', 'the id of the theme')
    .argument('<name>', 'its name in the API and in IATI')
    .action(storeAction([], rename))
}

/** Every theme with its OECD DAC purpose code and its number of projects. */
async function list({ store }: Runtime, output: Output): Promise<number> {
  const themes = await listThemesInUse(store.db)
  return output.result({ themes: themes.map(withSectorName) }, () => themes.map(describe), {
    note: themes.length === 0 && 'no themes',
  })
}

function requireActiveCode(code: string): void {
  if (isActiveCode('Sector', code)) return
  const got = codeName('Sector', code) === undefined ? JSON.stringify(code) : `${code}, which has been withdrawn`
  throw new ServiceError('input-unusable', `expected an active code of the IATI Sector list, got ${got}`)
}

/** From the next publication on, projects of the theme are reported under this purpose code. */
async function map(
  { store }: Runtime,
  output: Output,
  id: string,
  code: string,
  { humanitarian }: { humanitarian?: boolean },
): Promise<number> {
  const theme = await store.transaction((db) => changeTheme(db, { id, sector: code, humanitarian }))
  return await report(store, output, id, theme)
}

/** The name is the operator's from now on; the old one stays an alias. */
async function rename({ store }: Runtime, output: Output, id: string, name: string): Promise<number> {
  const wanted = name.trim()
  if (wanted === '') throw new ServiceError('input-unusable', 'expected a name that is not blank, got ""')
  return await report(store, output, id, await store.transaction((db) => changeTheme(db, { id, name: wanted })))
}

async function report(store: Store, output: Output, id: string, theme: ThemeInUse | undefined): Promise<number> {
  if (!theme) {
    const known = (await listThemesInUse(store.db)).map((one) => one.id)
    const expected = known.length === 0 ? 'but the store has none yet' : `one of ${known.join(', ')}`
    throw new ServiceError('input-unusable', `expected the id of a theme, ${expected}; got ${JSON.stringify(id)}`)
  }
  return output.result(withSectorName(theme), () => describe(theme))
}

function withSectorName(theme: ThemeInUse) {
  return { ...theme, ...(theme.sectorCode && { sectorName: codeName('Sector', theme.sectorCode) }) }
}

function describe(theme: ThemeInUse): string {
  const code = theme.sectorCode ?? '99810'
  const sector = `${code} ${codeName('Sector', code) ?? ''}${theme.sectorCode ? '' : ' (not mapped)'}`
  const projects = theme.projects === 1 ? '1 project' : `${theme.projects} projects`
  return `${theme.id} (${theme.name}): ${sector}${theme.humanitarian ? ', humanitarian' : ''}; ${projects}`
}
