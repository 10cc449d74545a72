import { expect, it } from 'vitest'
import { tables } from '../../../src/iati/tables/tables.js'

/** Columns whose name does not follow from the place of their value. */
const named: Readonly<Record<string, string>> = {
  number: 'position()',
  defaultlanguage: '/@xml:lang',
  objectives_narrative: "description[@type='2']/narrative",
  plannedstart: "activity-date[@type='1']/@iso-date",
  actualstart: "activity-date[@type='2']/@iso-date",
  plannedend: "activity-date[@type='3']/@iso-date",
  actualend: "activity-date[@type='4']/@iso-date",
  latitude: 'point/pos',
  longitude: 'point/pos',
  indicator_measure: '../@measure',
  indicator_measurename: '../@measure',
  indicator_title_narrative: '../title/narrative',
  goal: "substring-before(concat(@code, '.'), '.')",
  goalname: "substring-before(concat(@code, '.'), '.')",
  target: "@code[../@vocabulary='3']",
  targetname: "@code[../@vocabulary='3']",
}

it('has columns that are named after elements and attributes, as docs/reference/data.md says', () => {
  for (const { name: table, columns } of tables) {
    for (const { name, path, codeList } of columns) {
      if (named[name] !== undefined) {
        expect([table, name, path]).toEqual([table, name, named[name]])
        continue
      }
      // The description of an activity is that of type 1.
      const steps = path
        .replace("[not(@type) or @type='1']", '')
        .replace('[not(dimension)]', '')
        .split('/')
        .filter((step) => !/^\.*$/.test(step))
      const place = steps.map((step) => step.replace(/[@:-]/g, '')).join('_')
      expect([table, name]).toEqual([table, codeList === undefined ? place : `${place}name`])
    }
  }
})
