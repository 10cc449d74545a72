import { expect, it } from 'vitest'
import { fieldsOfElement } from '../../../../src/catalogue/import/fields-of-element.js'

it('names the fields that an element of an activity is written from', () => {
  expect(fieldsOfElement('title')).toEqual(['projects.title'])
  expect(fieldsOfElement('humanitarian-scope')).toHaveLength(1)
  expect(fieldsOfElement('budget')).not.toContain('projects.title')
  expect(fieldsOfElement('reporting-org')).toEqual([])
})
