import { expect, it } from 'vitest'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { drawWorld } from '../../support/portal/draw-world.js'

it('the map of the world is drawn from world-atlas; after a change: npm run portal:world', () => {
  expect(readProjectFile('src/extensions/portal/charts/world.json')).toBe(drawWorld())
})
