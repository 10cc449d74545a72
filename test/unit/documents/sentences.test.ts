import { readdirSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { projectRoot } from '../../support/documents/how-to.js'
import { readProjectFile, readTable } from '../../support/documents/markdown-table.js'

const filesIn = (folder: string) =>
  readdirSync(`${projectRoot}/${folder}`, { recursive: folder !== '', encoding: 'utf8' })
    .filter((name) => !name.includes('.vitepress'))
    .map((name) => (folder === '' ? name : `${folder}/${name.replaceAll('\\', '/')}`))

/** Paragraphs, items and cells of a page, without code and addresses. */
function textsOfPage(page: string): string[] {
  const text = page
    .replace(/^( *)```[\s\S]*?^\1```/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/``[^`]+``|`[^`]+`/g, '·')
  return text.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)|\n(?=\|)|\|/)
}

/** Literals of a source that are prose: messages, what commands print, words of pages. SQL and markup are none. */
function textsOfSource(source: string): string[] {
  const texts: string[] = []
  const textOf = (node: ts.Node): string | undefined => {
    if (ts.isStringLiteralLike(node)) return node.text
    if (ts.isTemplateExpression(node)) {
      return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('X')
    }
    if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined
    const [left, right] = [textOf(node.left), textOf(node.right)]
    return left === undefined && right === undefined ? undefined : `${left ?? 'X'}${right ?? 'X'}`
  }
  const visit = (node: ts.Node): void => {
    const text = textOf(node)
    if (text === undefined) ts.forEachChild(node, visit)
    else if (
      /\b(?:the|an?|are|that|it) /.test(text) &&
      !/^\s*(?:select|insert|update|delete|create|with)\b|<\w|\$\d|[{;]\n/.test(text)
    )
      texts.push(text)
  }
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true))
  return texts
}

const replaced = readTable(readProjectFile('docs/glossary.md'), '| Do not write |').map(([not = '', but = '']) => ({
  but,
  word: new RegExp(`\\b(?:${not.replaceAll(', ', '|')})\\b`, 'i'),
}))

function problemsOf(text: string): string[] {
  const sentences = text.replace(/\s+/g, ' ').split(/(?<=[.!?][*"”)]*) /)
  return sentences.flatMap((sentence) => {
    const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length
    return [
      ...(words > 30 ? [`${words} words: ${sentence}`] : []),
      ...(/\bof\b(?:[^,.;:()|]*\bof\b){2}/.test(sentence) ? [`a chain of three "of": ${sentence}`] : []),
      ...replaced.filter(({ word }) => word.test(sentence)).map(({ but }) => `write "${but}": ${sentence}`),
    ]
  })
}

const pages = ['', 'docs', '.github'].flatMap(filesIn).filter((file) => file.endsWith('.md') && !/glossary/.test(file))
const texts = filesIn('src').filter((file) => /\.en\.txt$|\/words\/en\.json$/.test(file))
const sources = ['src', 'jobs'].flatMap(filesIn).filter((file) => file.endsWith('.ts') && !file.endsWith('types.ts'))

// The output of `--help` is docs/cli.md; errors, notices and variables have pages too.
it.each([
  ['pages', pages, textsOfPage],
  ['templates and words', texts, (text: string) => text.split(/\n|": "/)],
  ['sources', sources, textsOfSource],
] as const)(
  '%s have sentences that are read once: 30 words, two "of", no word that the glossary replaces',
  (_, files, textsOf) => {
    const problems = files.flatMap((file) =>
      textsOf(readProjectFile(file))
        .flatMap(problemsOf)
        .map((problem) => `${file}: ${problem}`),
    )
    expect(problems).toEqual([])
  },
)
