import { describe, expect, it } from 'vitest'
import { dataPackage } from '../../../src/extensions/descriptions/data-package.js'
import { dcatCatalogue } from '../../../src/extensions/descriptions/dcat.js'
import { llmsText } from '../../../src/extensions/descriptions/llms-text.js'
import { describePublication } from '../../../src/extensions/descriptions/publication-description.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import { mappingConfig } from '../../support/values/builders.js'

const files = [
  ...['/iati/activities.xml', '/iati/organisations.xml'].map((path) => ({
    path,
    mediaType: 'application/xml; charset=utf-8',
  })),
  { path: '/iati/index.json', mediaType: 'application/json; charset=utf-8' },
  { path: '/feeds/reports.atom', mediaType: 'application/atom+xml; charset=utf-8' },
  ...['activities.csv', 'activities.parquet', 'budgets.csv', 'budgets.parquet'].map((name) => ({
    path: `/data/${name}`,
    mediaType: name.endsWith('csv') ? 'text/csv; charset=utf-8; header=present' : 'application/vnd.apache.parquet',
  })),
  { path: '/data/colours.csv', mediaType: 'text/csv' },
  { path: '/old/data/budgets.csv.sig', mediaType: 'text/plain' },
  { path: '/data/budgets.csv.sig', mediaType: 'text/plain' },
  { path: '/old/data/budgets.csv', mediaType: 'text/csv' },
  { path: '/data/budgets-12.csv', mediaType: 'text/csv' },
  { path: '/iati/activities.xml.sig', mediaType: 'text/plain' },
  { path: '/old/iati/activities.xml', mediaType: 'text/plain' },
  { path: '/feeds/reports.atom.sig', mediaType: 'text/plain' },
  { path: '/old/feeds/reports.atom', mediaType: 'text/plain' },
]
const contact = { email: 'data@giving.example', page: 'https://giving.example/contact' }
const coverage = { issued: '2026-11-20' as IsoDate, since: '2019', countries: ['TZ', 'UG', 'XX'] }
const describeAll = () => describePublication({ ...mappingConfig, contact, licence: 'cc-by' }, files, coverage)

describe('what describes a publication', () => {
  it('is a data package', async () => {
    await expect(dataPackage(describeAll())).toMatchFileSnapshot('datapackage.json')
  })

  it.each(['jsonld', 'ttl', 'rdf'] as const)('is a catalogue as %s', async (format) => {
    await expect([...dcatCatalogue(describeAll(), format)].join('')).toMatchFileSnapshot(`catalog.${format}`)
  })

  it('is a text for programs that read text', async () => {
    await expect(llmsText(describeAll())).toMatchFileSnapshot('llms.txt')
  })

  it('has the publication without reports and licence too', async () => {
    const least = describePublication(mappingConfig, files.slice(0, 1), { countries: [] })
    await expect(llmsText(least)).toMatchFileSnapshot('llms-least.txt')
    await expect([...dcatCatalogue(least, 'ttl')].join('')).toMatchFileSnapshot('catalog-least.ttl')
    await expect(dataPackage(least)).toMatchFileSnapshot('datapackage-least.json')
  })
})
