import { expect, it } from 'vitest'
import { listDifferences } from '../../../support/iati/xml-differential.js'

// The campaign reads a million.
it('reads what libxml2 reads, text for text, and refuses what it refuses', () => {
  expect(listDifferences({ documents: 2_000, seed: 20261122 })).toEqual([])
})
