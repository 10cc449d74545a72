import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

type Color = readonly [red: number, green: number, blue: number]

/** A picture of a sun over hills as PNG, `width` pixels wide and two thirds as high. The same name gives the same picture. */
export function demoPicture(name: string, width: number): Buffer {
  const seed = createHash('sha256').update(name).digest()
  const byte = (index: number) => (seed[index] ?? 0) / 255
  const height = Math.round((width * 2) / 3)
  const hill = (x: number, at: number) =>
    0.55 + at / 8 + 0.12 * Math.sin((x / width) * (3 + 4 * byte(at)) + 6 * byte(at + 1))
  const sun = { x: width * (0.2 + 0.6 * byte(6)), y: height * (0.15 + 0.2 * byte(7)), radius: width / 12 }
  const rows = Buffer.alloc(height * (width + 1))
  for (let x = 0; x < width; x++) {
    const [far, near] = [hill(x, 1) * height, hill(x, 2) * height]
    for (let y = 0; y < height; y++) {
      const isSun = (x - sun.x) ** 2 + (y - sun.y) ** 2 < sun.radius ** 2
      rows[y * (width + 1) + x + 1] = y > near ? 3 : y > far ? 2 : isSun ? 1 : 0
    }
  }
  const shade = (color: Color, by: number) => color.map((value) => Math.round(value * (0.7 + 0.3 * byte(by))))
  const palette = [shade([190, 220, 245], 8), [250, 200, 80], shade([120, 170, 110], 9), shade([70, 125, 80], 10)]
  return png(width, height, Buffer.from(palette.flat()), rows)
}

/** A PNG of 8-bit palette indexes; each row begins with its filter byte, 0. */
function png(width: number, height: number, palette: Buffer, rows: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const result = Buffer.alloc(body.length + 8)
  result.writeUInt32BE(data.length, 0)
  result.set(body, 4)
  result.writeUInt32BE(crc32(body), body.length + 4)
  return result
}
