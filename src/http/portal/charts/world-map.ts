import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type GeoContext, geoCentroid, geoNaturalEarth1, geoPath } from 'd3-geo'
import { scaleSqrt } from 'd3-scale'
import type { Geometry, MultiPolygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { type Html, html } from '../html.js'
import { countryByNumber } from './country-numbers.js'

export type MapCountry = { readonly code: string; readonly name: string; readonly count: number; readonly href: string }

const width = 800
const height = 390
// Points of the coast that are closer together than this are not told apart at this size.
const nearest = 2.6

type Atlas = Topology<{ countries: GeometryCollection; land: GeometryCollection }>
type World = { readonly land: string; readonly centres: ReadonlyMap<string, readonly [number, number]> }

let world: World | undefined

/** Read when the first map is drawn: the atlas is a megabyte of text. */
function theWorld(): World {
  world ??= drawWorld()
  return world
}

function drawWorld(): World {
  const require = createRequire(import.meta.url)
  const atlas = (name: string) => JSON.parse(readFileSync(require.resolve(`world-atlas/${name}`), 'utf8')) as Atlas
  const coarse = atlas('land-110m.json')
  const land = withoutAntarctica(feature(coarse, coarse.objects.land).features[0]?.geometry)
  const edge = 6
  const projection = geoNaturalEarth1().fitExtent(
    [
      [edge, edge],
      [width - edge, height - edge],
    ],
    land,
  )
  const pen = new Pen()
  geoPath(projection, pen)(land)
  const fine = atlas('countries-50m.json')
  const centres = new Map<string, readonly [number, number]>()
  for (const country of feature(fine, fine.objects.countries).features) {
    const code = countryByNumber.get(String(country.id))
    const centre = projection(geoCentroid(country))
    if (code && centre) centres.set(code, centre)
  }
  return { land: pen.path, centres }
}

/** Nobody gives there, and it takes a fifth of the picture. */
function withoutAntarctica(land: Geometry | undefined): MultiPolygon {
  if (land?.type !== 'MultiPolygon') throw new Error('the land of the atlas is one multi-polygon')
  const isNorth = (polygon: MultiPolygon['coordinates'][number]) =>
    polygon.some((ring) => ring.some(([, y]) => (y ?? 0) > -60))
  return { ...land, coordinates: land.coordinates.filter(isNorth) }
}

/** Writes a path of whole steps without points that lie close together. */
class Pen implements GeoContext {
  path = ''
  // Lines that follow each other name their command once.
  #isFirst = true
  #x = 0
  #y = 0

  moveTo(x: number, y: number): void {
    ;[this.#x, this.#y] = [Math.round(x), Math.round(y)]
    this.path += `M${this.#x} ${this.#y}`
    this.#isFirst = true
  }

  lineTo(x: number, y: number): void {
    if (Math.hypot(x - this.#x, y - this.#y) < nearest) return
    const [dx, dy] = [Math.round(x) - this.#x, Math.round(y) - this.#y]
    const before = this.#isFirst ? 'l' : dx < 0 ? '' : ' '
    this.path += `${before}${dx}${dy < 0 ? '' : ' '}${dy}`
    this.#isFirst = false
    this.#x += dx
    this.#y += dy
  }

  closePath(): void {
    this.path += 'z'
  }

  beginPath(): void {}
  arc(): void {}
}

/** The world with a circle for each country, its area by the number of projects; each circle is a link. */
export function worldMap(countries: readonly MapCountry[], label: string): Html {
  const { land, centres } = theWorld()
  const most = Math.max(1, ...countries.map(({ count }) => count))
  const radius = scaleSqrt([0, most], [3, 17])
  const circles = [...countries]
    .sort((a, b) => b.count - a.count)
    .flatMap(({ code, name, count, href }) => {
      const [x, y] = centres.get(code) ?? []
      if (x === undefined || y === undefined) return []
      const size = radius(count).toFixed(1)
      return html`<a href="${href}" aria-label="${`${name}: ${count}`}"><circle cx="${x.toFixed(0)}" cy="${y.toFixed(0)}" r="${size}"><title>${`${name}: ${count}`}</title></circle></a>\n`
    })
  return html`<svg class="map" viewBox="0 0 ${width} ${height}" role="group" aria-label="${label}"><path class="land" d="${land}"/>
${circles}</svg>`
}
