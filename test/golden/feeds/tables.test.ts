import { describe, expect, it } from 'vitest'
import { rowsOf, tables } from '../../../src/iati/tables/tables.js'
import { parseElement } from '../../../src/kernel/xml/reader.js'
import { aFullActivity } from '../../support/iati/mutants/index.js'

describe('the rows of an activity', () => {
  it('have a value for each column that the activity has', async () => {
    const rows = tables.map(({ name, columns, ...table }) => ({
      name,
      rows: [...rowsOf({ name, columns, ...table }, aFullActivity())].map((row) =>
        Object.fromEntries(row.flatMap((value, index) => (value === undefined ? [] : [[columns[index]?.name, value]]))),
      ),
    }))
    await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot('rows.json')
  })

  it('are described by their columns', async () => {
    const described = tables.map(({ trails: _, columns, ...table }) => ({
      ...table,
      columns: columns.map(({ value: __, ...column }) => column),
    }))
    await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot('tables.json')
  })

  const cells = (name: string, xml: string) => {
    const table = tables.find((one) => one.name === name)
    if (!table) throw new Error(`no table ${name}`)
    return [...rowsOf(table, parseElement(`<iati-activity>${xml}</iati-activity>`))].map((row) =>
      Object.fromEntries(
        row.flatMap((value, index) => (value === undefined ? [] : [[table.columns[index]?.name, value]])),
      ),
    )
  }

  it('join what an activity repeats, and keep the place of an unknown name', () => {
    const xml = '<recipient-country code="KE" percentage="60"/><recipient-country code="QQ" percentage=""/>'
    expect(cells('activities', xml)).toEqual([
      { recipientcountry_code: 'KE;QQ', recipientcountry_codename: 'Kenya;', recipientcountry_percentage: '60' },
    ])
  })

  it('name a code by its own words before those of its list', () => {
    const xml =
      '<sector code="11220"><narrative>Schools</narrative></sector><sector code="11220"/><sector vocabulary="99" code="x"/>'
    expect(cells('sectors', xml)).toEqual([
      { number: '1', code: '11220', codename: 'Schools' },
      { number: '2', code: '11220', codename: 'Primary education' },
      { number: '3', vocabulary: '99', vocabularyname: 'Reporting Organisation', code: 'x' },
    ])
  })

  it('have the goal of a target, and no row for a tag that is no goal', () => {
    const xml = '<tag vocabulary="3" code="6.1"/><tag vocabulary="99" code="6"/><tag vocabulary="2" code="13"/>'
    expect(cells('goals', xml)).toEqual([
      {
        ...{ number: '1', goal: '6', goalname: expect.stringContaining('water and sanitation') },
        ...{ target: '6.1', targetname: expect.stringContaining('drinking water') },
      },
      { number: '2', goal: '13', goalname: expect.stringContaining('climate change') },
    ])
  })

  it('have nothing for what is absent or empty', () => {
    expect(cells('activities', '<title/><activity-date type="9" iso-date="2026-01-01"/>')).toEqual([{}])
    expect(cells('locations', '<location/><location><point><pos>1 2 3</pos></point></location>')).toEqual([
      { number: '1' },
      { number: '2', latitude: '1', longitude: '2' },
    ])
    expect(cells('results', '<result/>')).toEqual([])
  })

  it('are those of the description of their type, without what XML forbids', () => {
    const table = tables[0]
    const description = (type: string, text: string) => ({
      ...{ name: 'description', attributes: { type }, text: '' },
      children: [{ name: 'narrative', attributes: {}, children: [], text }],
    })
    const activity = {
      ...{ name: 'iati-activity', attributes: {}, text: '' },
      children: [description('2', 'b\u0000'), description('1', 'a')],
    }
    const [row] = table ? rowsOf(table, activity) : []
    expect(row?.filter((value) => value !== undefined)).toEqual(['a', 'b'])
  })
})
