import type { Noun } from './field.js'

/** The fields of a theme. */
export const themeFields = {
  id: {
    kind: 'text',
    file: { required: true },
    means: 'Id of the theme, as in addresses of the API.',
    examples: ['water', 'bees'],
    api: 'themes/theme/id',
    iati: 'sector (vocabulary 99)',
  },
  name: {
    kind: 'text',
    file: { kept: true },
    means: 'Name. Left out for a new theme: the name that this program knows, else the id.',
    examples: ['Clean Water', 'Bees'],
    api: 'themes/theme/name, themeName',
    iati: 'sector/narrative',
  },
  sectorCode: {
    kind: 'sector?',
    name: 'sector',
    file: { kept: true },
    means: 'OECD DAC purpose code that projects of the theme are reported under.',
    examples: ['14031', '31194'],
    iati: 'sector (vocabulary 1)',
  },
  humanitarian: {
    kind: 'boolean?',
    file: { kept: true },
    means:
      'Whether projects of the theme answer to emergencies. Nobody has said: those with a purpose code 72xxx to 74xxx do.',
    examples: ['no', 'no'],
    iati: 'iati-activity/@humanitarian',
  },
} as const satisfies Noun
