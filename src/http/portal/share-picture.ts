import { createRequire } from 'node:module'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { html } from './html.js'
import { amountOf, currenciesOf } from './project-index.js'
import { findEntry } from './read-project.js'
import { countryName, countText, moneyName, moneyText, pluralOf, statusName, type View } from './view.js'

/** The size that those who show links expect. */
const pictureSize = { width: 1200, height: 630 } as const

const [margin, titleSize, lineSize, titleLines] = [80, 64, 34, 4] as const
// Widths of letters of the font, as parts of its size: wide enough for most texts.
const letterWidth = 0.62

type Shown = { readonly title: string; readonly lines: readonly string[]; readonly share: number | undefined }

/** `/pictures/home.png` and `/pictures/projects/{id}.png`: what a shared link shows; undefined when there is no such project. */
export async function sharePicture(view: View, id: string | undefined): Promise<Buffer | undefined> {
  const shown = id === undefined ? homeOf(view) : projectOf(view, id)
  return shown && (await draw(svgOf(view, shown)))
}

function homeOf(view: View): Shown {
  const { words, projectIndex } = view
  const { all, groups } = projectIndex
  const [currency] = currenciesOf(all.sums)
  const sums = currency === undefined ? undefined : all.sums.get(currency)
  const money =
    sums && currency ? `${words.money.in}: ${moneyText(view, amountOf(sums, 'in'), currency, { whole: true })}` : ''
  const projects = words.projects(countText(view, all.places.length), pluralOf(view, all.places.length))
  return {
    title: words.home.intro(view.publisherName),
    lines: [`${projects} · ${words.home.countries}: ${countText(view, groups.countries.size)}`, money],
    share: undefined,
  }
}

function projectOf(view: View, id: string): Shown | undefined {
  const entry = findEntry(view, id)
  if (!entry) return undefined
  const [[currency, sums] = []] = Object.entries(entry.money)
  const money = (kind: 'in' | 'budget') =>
    sums && currency && sums[kind] !== '0'
      ? [`${moneyName(view, kind)}: ${moneyText(view, sums[kind], currency, { whole: true })}`]
      : []
  const places = entry.countries.slice(0, 3).map((code) => countryName(view, code))
  const share = sums && sums.budget !== '0' ? Number(sums.in) / Number(sums.budget) : undefined
  return {
    title: entry.title,
    lines: [[statusName(view, entry.status), ...places].join(' · '), [...money('in'), ...money('budget')].join(' · ')],
    share: share === undefined ? undefined : Math.min(1, Math.max(0, share)),
  }
}

function svgOf(view: View, { title, lines, share }: Shown): string {
  const { width, height } = pictureSize
  const isRtl = view.words.direction === 'rtl'
  const [x, anchor] = isRtl ? [width - margin, 'end'] : [margin, 'start']
  const text = (y: number, size: number, content: string, kind = '') =>
    html`<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${{ html: kind }}>${isRtl ? `\u202B${content}\u202C` : content}</text>\n`
  const wrapped = wrap(title, Math.floor((width - 2 * margin) / (letterWidth * titleSize)), titleLines)
  const base = 470
  const trial = isDemoPublisher(view.release.manifest.publisher.ref) ? view.words.trial : ''
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans" fill="#f4fbfa">
<rect width="${width}" height="${height}" fill="#0b4648"/><rect y="${height - 14}" width="${width}" height="14" fill="#c85a12"/>
${text(90, lineSize, `${view.publisherName} – ${view.words.openData}`, ' fill-opacity=".85"')}
${wrapped.map((line, at) => text(175 + at * titleSize * 1.15, titleSize, line, ' font-weight="bold"'))}
${share === undefined ? undefined : html`<rect x="${margin}" y="${base - 8}" width="${width - 2 * margin}" height="18" rx="9" fill="#f4fbfa" fill-opacity=".25"/><rect x="${isRtl ? width - margin - share * (width - 2 * margin) : margin}" y="${base - 8}" width="${share * (width - 2 * margin)}" height="18" rx="9" fill="#f0914a"/>\n`}${lines.map((line, at) => text(base + 55 + at * 45, lineSize, cutTo(line, 58)))}
${trial && text(height - 28, 18, trial)}</svg>`.html
}

/** Lines of at most so many letters; what has no room ends in an ellipsis. */
function wrap(text: string, letters: number, most: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  const shown = lines.slice(0, most).map((line) => cutTo(line, letters))
  if (lines.length > most) shown[most - 1] = cutTo(`${shown[most - 1]} …`, letters)
  return shown
}

function cutTo(text: string, letters: number): string {
  const all = [...text]
  return all.length <= letters ? text : `${all.slice(0, letters - 1).join('')}…`
}

/** Draws beside the event loop, on the threads of the runtime. */
async function draw(svg: string): Promise<Buffer> {
  // Loaded with the first picture: most processes draw none.
  const { renderAsync } = await import('@resvg/resvg-js')
  const { resolve } = createRequire(import.meta.url)
  const fontFiles = ['DejaVuSans', 'DejaVuSans-Bold'].map((name) => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))
  const image = await renderAsync(svg, {
    font: { fontFiles, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' },
  })
  return image.asPng()
}
