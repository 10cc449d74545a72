import { ServiceError } from '../../kernel/errors.js'
import { withFrenchSpaces } from '../../kernel/french-spacing.js'
import { isRightToLeft } from '../../kernel/right-to-left.js'

/** A message of which the recipient is not known yet, in both forms. */
export type MailText = { readonly subject: string; readonly text: string; readonly html: string }

/** Values by field; a line with a list is written once for each of its values. */
export type TemplateValues<Field extends string> = Readonly<Record<Field, string | readonly string[]>>

/** One language's template: a line `Subject: ...`, an empty line, and the body, with `{{field}}` for values. */
export class MailTemplate<Field extends string> {
  readonly #language: string
  readonly #subject: string
  readonly #body: readonly string[]

  constructor(language: string, subject: string, body: readonly string[]) {
    this.#language = language
    this.#subject = subject
    this.#body = body
  }

  /** Reads a template, which may name these fields. Throws `configuration-invalid`, naming the file. */
  static parse<Field extends string>(
    source: string,
    fields: readonly Field[],
    language: string,
    file: string,
  ): MailTemplate<Field> {
    const [first = '', blank = '', ...body] = withFrenchSpaces(source, language)
      .replaceAll('\r\n', '\n')
      .trimEnd()
      .split('\n')
    const subject = /^Subject: (.+)$/.exec(first)?.[1]
    const names = [...source.matchAll(placeholder)].map(([, name = '']) => name)
    const unknown = names.find((name) => !fields.some((field) => field === name))
    if (unknown !== undefined) throw unusable(file, `one of {{${fields.join('}}, {{')}}}, got {{${unknown}}}`)
    if (subject === undefined || blank !== '' || body.length === 0) {
      throw unusable(file, 'a line "Subject: ...", an empty line and the text of the message')
    }
    return new MailTemplate(language, subject, body)
  }

  /** Both forms of the message; a value never adds a line, a header or HTML, and an empty one leaves its line out. */
  render(given: TemplateValues<Field>): MailText {
    const plain = (line: string, values = given) =>
      line.replace(placeholder, (_, name: Field) => oneLine(String(values[name])))
    const isLeftOut = (line: string) =>
      [...line.matchAll(placeholder)].some(([, name]) => String(given[name as Field]).trim() === '')
    const written = (line: string): string[] => {
      const [, listed] = [...line.matchAll(placeholder)].find(([, name]) => Array.isArray(given[name as Field])) ?? []
      const items = listed === undefined ? undefined : given[listed as Field]
      return Array.isArray(items)
        ? items.map((item: string) => plain(line, { ...given, [listed as Field]: item }))
        : [plain(line)]
    }
    const lines = this.#body.filter((line) => !isLeftOut(line)).flatMap(written)
    const text = `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
    const paragraphs = text.trim().split(/\n{2,}/)
    const html = paragraphs.map((one) => `<p>${one.split('\n').map(toHtml).join('<br>\n')}</p>`).join('\n')
    const subject = plain(this.#subject)
    const head = `<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`
    return {
      subject,
      text,
      html: `<!DOCTYPE html>\n<html lang="${this.#language}"${isRightToLeft(this.#language) ? ' dir="rtl"' : ''}>${head}<body>\n${html}\n</body></html>\n`,
    }
  }
}

const placeholder = /\{\{(\w+)\}\}/g

function oneLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

function toHtml(line: string): string {
  return escapeHtml(line).replace(/https?:\/\/[^\s<>"]+/g, (url) => `<a href="${url}">${url}</a>`)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function unusable(file: string, expected: string): ServiceError {
  return new ServiceError('configuration-invalid', `the mail template ${file} cannot be used: expected ${expected}`)
}
