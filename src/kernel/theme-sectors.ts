import { lookupTable } from './lookup-table.js'

/** What a platform theme means in IATI; `sectorCode` is an active OECD DAC 5-digit purpose code (vocabulary 1). */
export type ThemeDefault = { readonly name: string; readonly sectorCode: string; readonly humanitarian?: true }

function theme(name: string, sectorCode: string, humanitarian?: true): ThemeDefault {
  return { name, sectorCode, ...(humanitarian && { humanitarian }) }
}

/**
 * The platform's 28 themes by wire id (wire.md 8) with the sector each has until an operator chooses another one
 * (iati.md 7.1). Names are those of today: the wire changes them over the years, the ids never.
 */
export const themeDefaults: Readonly<Record<string, ThemeDefault>> = {
  agriculture: theme('Sustainable Agriculture', '31120'),
  animals: theme('Animal Welfare', '41030'),
  art: theme('Arts and Culture', '16061'),
  children: theme('Child Protection', '16010'),
  climate: theme('Climate Action', '41010'),
  'covid-19': theme('COVID-19', '12264'),
  // The id says democracy, but readers see the name, which has long been another one.
  democ: theme('Peace and Reconciliation', '15220'),
  disability: theme('Disability Rights', '16010'),
  disaster: theme('Disaster Response', '72010', true),
  ecdev: theme('Economic Growth', '32130'),
  edu: theme('Education', '11220'),
  endabuse: theme('Ending Abuse', '15180'),
  env: theme('Ecosystem Restoration', '41030'),
  gender: theme('Gender Equality', '15170'),
  health: theme('Physical Health', '12220'),
  housing: theme('Safe Housing', '16040'),
  human: theme('Ending Human Trafficking', '15160'),
  hunger: theme('Food Security', '43072'),
  justice: theme('Racial Justice', '15160'),
  lgbtq: theme('LGBTQIA+ Equality', '15160'),
  mentalhealth: theme('Mental Health', '12340'),
  refugee: theme('Refugee Rights', '15190'),
  reproductive: theme('Reproductive Health', '13020'),
  rights: theme('Justice and Human Rights', '15160'),
  sport: theme('Sport', '16061'),
  tech: theme('Digital Literacy', '22040'),
  water: theme('Clean Water', '14031'),
  wildlife: theme('Wildlife Conservation', '41030'),
}

/** Themes that platforms no longer offer; records of earlier years have them. */
const formerThemes: Readonly<Record<string, ThemeDefault>> = {
  finance: theme('Microfinance', '24040'),
}

/** What themes were called in earlier years, by wire id. */
const formerNames = lookupTable<readonly string[]>({
  animals: ['Animals'],
  children: ['Children'],
  climate: ['Climate Change'],
  democ: ['Democracy and Governance'],
  disaster: ['Disaster Recovery', 'Natural Disasters'],
  ecdev: ['Economic Development'],
  env: ['Environment'],
  gender: ['Women and Girls'],
  health: ['Health'],
  human: ['Humanitarian Assistance'],
  hunger: ['Hunger'],
  lgbtq: ['LGBTQAI+'],
  rights: ['Human Rights'],
  tech: ['Technology'],
})

const known: Readonly<Record<string, ThemeDefault>> = lookupTable({ ...themeDefaults, ...formerThemes })

/** What each theme is called today, by wire id. */
export const themeNames: Readonly<Record<string, string>> = lookupTable(
  Object.fromEntries(Object.entries(known).map(([id, { name }]) => [id, name])),
)

const idsByName = new Map(
  Object.entries(known).flatMap(([id, { name }]) =>
    [name, ...(formerNames[id] ?? [])].map((one) => [one.toLowerCase(), id] as const),
  ),
)

/** The default of a theme by its wire id, else by its name; undefined for a theme that this program does not know. */
export function themeDefault(id: string, name?: string): ThemeDefault | undefined {
  const key = Object.hasOwn(known, id) ? id : name && knownThemeId(name)
  return key ? known[key] : undefined
}

/** The wire id of a theme by its name of today or of earlier years, in any letter case. */
export function knownThemeId(name: string): string | undefined {
  return idsByName.get(name.trim().toLowerCase())
}

/** The wire id of the theme that has exactly this name today, which is English. */
export function themeNamed(name: string): string | undefined {
  const id = knownThemeId(name)
  return id !== undefined && known[id]?.name === name ? id : undefined
}

/** What a theme that is new is called: as stated, but by its name of today where that is missing or of earlier years. */
export function firstThemeName(id: string, stated: string): string {
  return stated === id || formerNames[id]?.includes(stated) ? (themeDefault(id)?.name ?? stated) : stated
}
