import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type GeoContext, geoCentroid, geoNaturalEarth1, geoPath } from 'd3-geo'
import type { Geometry, MultiPolygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { countryByNumber } from './country-numbers.js'

const width = 800
const height = 390
// Points of the coast that are closer together than this are not told apart at this size.
const nearest = 2.6

type Atlas = Topology<{ countries: GeometryCollection; land: GeometryCollection }>

/** The text of `world.json`: land and centres of countries, in whole steps of the map. */
export function drawWorld(): string {
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
  const centres = new Map<string, readonly number[]>()
  for (const country of feature(fine, fine.objects.countries).features) {
    const code = countryByNumber.get(String(country.id))
    const centre = projection(geoCentroid(country))
    if (code && centre)
      centres.set(
        code,
        centre.map((one) => Number(one.toFixed(0))),
      )
  }
  return `${JSON.stringify({ width, height, land: pen.path, centres: Object.fromEntries([...centres].sort()) })}\n`
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
