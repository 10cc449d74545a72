import { themeFields } from '../../../kernel/nouns/theme.js'
import { saveThemeSectors } from '../../sql/theme-sectors.js'
import { defineKind } from '../kind.js'
import { fieldsInFiles } from '../noun-fields.js'

const themeKindFields = fieldsInFiles(themeFields, 'theme')

export const themes = defineKind({
  name: 'themes',
  means: 'Themes, and the DAC sectors that they stand for.',
  fields: themeKindFields,
  key: ['id'],
  repeated: 'last',
  save: (db, rows) => saveThemeSectors(db, rows),
})
