import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'

const docs = path.resolve(import.meta.dirname, '..')

/** The pages by kind, in the order of `docs/index.md`: its sections and rows are the groups of the sidebar. */
function sidebar() {
  const [, ...sections] = readFileSync(path.join(docs, 'index.md'), 'utf8').split('\n## ')
  return sections.map((section) => {
    const [text = '', ...lines] = section.split('\n')
    const groups = lines.flatMap((line) => {
      const [, text, pages] = /^\| ([^|]+) \| (\[.*) \|$/.exec(line) ?? []
      return text === undefined || pages === undefined ? [] : [{ text, collapsed: true, items: linksIn(pages) }]
    })
    return { text, items: groups.length > 0 ? groups : linksIn(lines.join('\n')) }
  })
}

/** Every decision by its title, such as `# 1. Plain SQL, one database`. */
function decisions() {
  const items = readdirSync(path.join(docs, 'adr')).map((file) => ({
    text:
      readFileSync(path.join(docs, 'adr', file), 'utf8')
        .split('\n', 1)[0]
        ?.slice(2) ?? file,
    link: `/adr/${file.replace('.md', '')}`,
  }))
  return { text: 'Decisions', collapsed: true, items }
}

function linksIn(text: string) {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)]+)\.md\)/g)].map(([, title = '', page]) => ({
    text: title.charAt(0).toUpperCase() + title.slice(1),
    link: `/${page}`,
  }))
}

export default defineConfig({
  title: 'giving-iati',
  description: 'Publishes the projects of a giving platform as open data, and serves its API',
  lastUpdated: false,
  themeConfig: { search: { provider: 'local' }, outline: [2, 3], sidebar: [...sidebar(), decisions()] },
  markdown: {
    config(md) {
      // Files of the repository beside the documents are no pages of the site: their links become text.
      md.core.ruler.push('links-out-of-the-documents', ({ tokens, env }) => {
        for (const { children } of tokens) {
          let out = false
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              const target = token.attrGet('href') ?? ''
              const file = path.resolve(path.dirname(env.path), target.replace(/#.*/, ''))
              out = !/^(?:[a-z]+:|#|\/)/.test(target) && !file.startsWith(docs + path.sep)
            }
            if (out && /^link_/.test(token.type)) Object.assign(token, { type: 'text', tag: '', content: '' })
          }
        }
      })
    },
  },
})
