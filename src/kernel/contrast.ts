/** A colour as `#rrggbb`. */
export type Colour = `#${string}`

/** Reads a colour; undefined for any other text. */
export function parseColour(text: string): Colour | undefined {
  return /^#[0-9a-f]{6}$/i.test(text) ? (text.toLowerCase() as Colour) : undefined
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, 1.4.6). */
export function contrastOf(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** The colour mixed with as much white as gives it this contrast to a dark one. */
export function lightenedTo(least: number, colour: Colour, dark: Colour): Colour {
  for (let white = 0; white < 1; white += 0.05) {
    const mixed = toColour(channelsOf(colour).map((channel) => channel + (255 - channel) * white))
    if (contrastOf(mixed, dark) >= least) return mixed
  }
  return '#ffffff'
}

function luminanceOf(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channelsOf(colour: Colour): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}

function toColour(channels: readonly number[]): Colour {
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`
}
