import { readFileSync } from 'node:fs'
import { type Html, html } from '../../../http/pages/html.js'
import { lookupTable } from '../../../kernel/lookup-table.js'

export type MapCountry = { readonly code: string; readonly name: string; readonly count: number; readonly href: string }

/** Size of the map, the coast as a path of SVG, and where the circle of each country is: `npm run portal:world` writes them. */
type World = {
  readonly width: number
  readonly height: number
  readonly land: string
  readonly centres: Readonly<Record<string, readonly [number, number]>>
}

let world: World | undefined

/** Read when the first map is drawn. */
function theWorld(): World {
  if (!world) {
    const read = JSON.parse(readFileSync(new URL('world.json', import.meta.url), 'utf8')) as World
    world = { ...read, centres: lookupTable(read.centres) }
  }
  return world
}

/** The world with a circle for each country, its area by the number of projects; each circle is a link for pointers. What stands beside the map says the same to others. */
export function worldMap(countries: readonly MapCountry[]): Html {
  const { width, height, land, centres } = theWorld()
  const most = Math.max(1, ...countries.map(({ count }) => count))
  const radius = (count: number) => 3 + 14 * Math.sqrt(count / most)
  const circles = [...countries]
    .sort((a, b) => b.count - a.count)
    .flatMap(({ code, name, count, href }) => {
      const [x, y] = centres[code] ?? []
      if (x === undefined || y === undefined) return []
      const size = radius(count).toFixed(1)
      return html`<a href="${href}" tabindex="-1"><circle cx="${x}" cy="${y}" r="${size}"><title>${`${name}: ${count}`}</title></circle></a>\n`
    })
  return html`<svg class="map" viewBox="0 0 ${width} ${height}" aria-hidden="true"><path class="land" d="${land}"/>
${circles}</svg>`
}
