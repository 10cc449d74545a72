/** What a platform theme means in IATI; `sectorCode` is an active OECD DAC 5-digit purpose code (vocabulary 1). */
export type ThemeDefault = { readonly name: string; readonly sectorCode: string; readonly humanitarian: boolean }

function theme(name: string, sectorCode: string, humanitarian = false): ThemeDefault {
  return { name, sectorCode, humanitarian }
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

/** The default of a theme by its wire id; undefined for a theme that this program does not know. */
export function themeDefault(id: string): ThemeDefault | undefined {
  return Object.hasOwn(themeDefaults, id) ? themeDefaults[id] : undefined
}
