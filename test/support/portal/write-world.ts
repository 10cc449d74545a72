import { writeFile } from 'node:fs/promises'
import { drawWorld } from './draw-world.js'

// `npm run portal:world`: writes the map of the world that pages show, from world-atlas.
await writeFile('src/extensions/portal/charts/world.json', drawWorld())
