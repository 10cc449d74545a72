import { saveThemeSectors } from '../../sql/theme-sectors.js'
import * as type from '../field-types.js'
import type { KindFields } from '../fields.js'
import { defineKind } from '../kind.js'

const themeKindFields = {
  id: {
    type: type.text,
    required: true,
    means: 'Id of the theme, as in addresses of the API.',
    examples: ['water', 'bees'],
    api: 'themes/theme/id',
    iati: 'sector (vocabulary 99)',
  },
  name: {
    type: type.text,
    kept: true,
    means: 'Name. Left out for a new theme: the name that this program knows, else the id.',
    examples: ['Clean Water', 'Bees'],
    api: 'themes/theme/name, themeName',
    iati: 'sector/narrative',
  },
  sector: {
    type: type.code('Sector', 'an active code of the IATI Sector list, five digits'),
    kept: true,
    cleared: { table: 'theme', columns: ['sector_code'] },
    means: 'OECD DAC purpose code that projects of the theme are reported under.',
    examples: ['14031', '31194'],
    iati: 'sector (vocabulary 1)',
  },
  humanitarian: {
    type: type.yesNo,
    kept: true,
    means: 'Whether projects of the theme answer to emergencies.',
    examples: ['no', 'no'],
    iati: 'iati-activity/@humanitarian',
  },
} as const satisfies KindFields

export const themes = defineKind({
  name: 'themes',
  means: 'Themes, and the DAC sectors that they stand for.',
  fields: themeKindFields,
  key: ['id'],
  repeated: 'last',
  save: (db, rows) => saveThemeSectors(db, rows),
})
