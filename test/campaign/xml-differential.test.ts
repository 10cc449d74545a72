import { expect, it } from 'vitest'
import { listDifferences, namedDifferences } from '../support/iati/xml-differential.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

it('reads a million documents as libxml2 reads them', { timeout: 3_600_000 }, () => {
  const documents = scaled(1_000_000)
  const seed = Number(process.env.CAMPAIGN_SEED ?? Math.floor(Date.now() / 86_400_000))
  console.log(`XML differential: CAMPAIGN_SEED=${seed}`)
  const differences = listDifferences({ documents, seed })
  record({
    ...{ name: 'generated XML documents, read as libxml2 reads them, text for text', engine: '-', tried: documents },
    outcome: `${differences.length} differences but ${namedDifferences.length} named ones`,
  })
  expect(differences).toEqual([])
})
