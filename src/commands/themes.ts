import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { ServiceError } from '../domain/errors.js'
import { codeName, isActiveCode } from '../standard/index.js'
import { listThemesInUse, mapTheme, type ThemeInUse } from '../store/catalogue/reference-lists.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving themes`. */
export function registerThemes(program: Command, { environment, action }: CommandLine): void {
  const themes = program.command('themes').description('the platform’s themes and the IATI sectors they stand for')
  themes
    .command('list')
    .description('every theme with its OECD DAC purpose code')
    .option(...jsonOption)
    .action(action((output) => listThemesCommand(environment, output)))
  themes
    .command('map')
    .description('report a theme under another purpose code from the next publication on')
    .argument('<theme>', 'the id of the theme')
    .argument('<code>', 'an active code of the IATI Sector list, five digits')
    .option('--humanitarian', 'projects of the theme answer to emergencies')
    .option('--no-humanitarian', 'they do not')
    .option(...jsonOption)
    .action(
      action((output, theme: string, code: string, { humanitarian }: { humanitarian?: boolean }) =>
        mapThemeCommand(environment, { theme, code, ...(humanitarian !== undefined && { humanitarian }) }, output),
      ),
    )
}

/** `giving themes list`: every theme with its OECD DAC purpose code, and how many projects have it. */
export async function listThemesCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const themes = await listThemesInUse(runtime.store.db)
  output.result({ themes: themes.map(withSectorName) }, () => themes.map(describe))
  return 0
}

export type MapThemeOptions = { readonly theme: string; readonly code: string; readonly humanitarian?: boolean }

/**
 * `giving themes map THEME CODE`: from the next publication on, projects of the theme are reported under this purpose
 * code. Throws `input-unusable` for a theme that the store does not know or a code that is not an active one.
 */
export async function mapThemeCommand(
  environment: Environment,
  { theme: id, code, humanitarian }: MapThemeOptions,
  output: Output,
): Promise<number> {
  if (!isActiveCode('Sector', code)) {
    const got = codeName('Sector', code) === undefined ? JSON.stringify(code) : `${code}, which has been withdrawn`
    throw new ServiceError('input-unusable', `expected an active code of the IATI Sector list, got ${got}`)
  }
  await using runtime = await openRuntime(environment)
  const theme = await runtime.store.transaction((db) => mapTheme(db, id, code, humanitarian))
  if (!theme) {
    const known = (await listThemesInUse(runtime.store.db)).map((one) => one.id)
    const expected = known.length === 0 ? 'but the store has none yet' : `one of ${known.join(', ')}`
    throw new ServiceError('input-unusable', `expected the id of a theme, ${expected}; got ${JSON.stringify(id)}`)
  }
  output.result(withSectorName(theme), () => describe(theme))
  return 0
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
