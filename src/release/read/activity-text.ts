/** A child of `iati-activity` as it stands in the file. */
export type ActivityChild = {
  readonly name: string
  /** The whole element. */
  readonly text: string
  attribute(name: string): string | undefined
}

/**
 * The children of an activity that our writer wrote: every angle bracket in its text is escaped, attributes are in double
 * quotes, and no child has a descendant of its own name, so the tags can be searched for.
 */
export function* activityChildren(activity: string): Generator<ActivityChild> {
  const end = activity.lastIndexOf('</iati-activity>')
  for (let at = activity.indexOf('<', 1); at >= 0 && at < end; ) {
    const tagEnd = activity.indexOf('>', at)
    const isEmpty = activity[tagEnd - 1] === '/'
    const tag = activity.slice(at + 1, isEmpty ? tagEnd - 1 : tagEnd)
    const name = /^[^\s>]+/.exec(tag)?.[0] ?? ''
    const close = isEmpty ? tagEnd : activity.indexOf(`</${name}>`, tagEnd)
    const next = isEmpty ? tagEnd + 1 : close + name.length + 3
    yield {
      name,
      text: activity.slice(at, next),
      attribute: (wanted) => attributeOf(tag, wanted),
    }
    at = activity.indexOf('<', next)
  }
}

function attributeOf(tag: string, name: string): string | undefined {
  const start = tag.indexOf(` ${name}="`)
  if (start < 0) return undefined
  const from = start + name.length + 3
  return unescapeText(tag.slice(from, tag.indexOf('"', from)))
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text that our writer escaped. */
export function unescapeText(markup: string): string {
  if (!markup.includes('&')) return markup
  return markup.replace(/&(#x([0-9A-Fa-f]+)|[a-z]+);/g, (whole, name: string, code?: string) =>
    code === undefined ? (entities[name] ?? whole) : String.fromCodePoint(Number.parseInt(code, 16)),
  )
}
