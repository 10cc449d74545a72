import { Parser } from 'htmlparser2'

/** The text nodes of a page's body, each with the language and direction in effect. */
export function spokenTexts(page: string): { text: string; language: string; direction: string }[] {
  const found: { text: string; language: string; direction: string }[] = []
  const open: { name: string; language: string; direction: string }[] = []
  const parser = new Parser({
    onopentag: (name, { lang, dir }) => {
      const { language = '', direction = '' } = open.at(-1) ?? {}
      open.push({ name, language: lang ?? language, direction: dir ?? direction })
    },
    ontext: (text) => {
      const { language = '', direction = '' } = open.at(-1) ?? {}
      const isShown =
        open.some(({ name }) => name === 'body') && !open.some(({ name }) => /^(script|style)$/.test(name))
      if (isShown && text.trim() !== '') found.push({ text, language, direction })
    },
    onclosetag: () => void open.pop(),
  })
  parser.end(page)
  return found
}
