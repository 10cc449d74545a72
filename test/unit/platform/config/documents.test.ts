import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../../src/platform/config/config.js'
import { type Variable, variables } from '../../../../src/platform/config/variables.js'
import { readFirstTable, readProjectFile, readTable } from '../../../support/documents/markdown-table.js'

const definitions: [string, Variable<unknown>][] = Object.entries(variables)

describe('.env.example', () => {
  const text = readProjectFile('.env.example')

  it('has a block for every variable: its meaning, then its default, or the bare name commented out', () => {
    const [, ...blocks] = text.trimEnd().split('\n\n')
    const expected = definitions.map(([name, { meaning, fallback }]) =>
      fallback === undefined ? `# ${meaning}\n# ${name}=` : `# ${meaning}\n${name}=${quoted(fallback)}`,
    )
    expect(blocks, 'write .env.example again from src/platform/config/variables.ts').toEqual(expected)
  })

  it('is what an empty environment means, but for who has said so', () => {
    const { unset: _, ...config } = readConfig({})
    expect(readConfig(parseEnv(text) as Record<string, string>)).toEqual({ ...config, unset: [] })
  })
})

describe('docs/reference/configuration.md', () => {
  it('begins with the ten that an operator needs', () => {
    const needed = readFirstTable(readProjectFile('docs/reference/configuration.md')).map(([name = '']) => name)
    expect(needed).toHaveLength(10)
    expect(needed.filter((name) => !(name in variables))).toEqual([])
  })

  it('lists the variables with their defaults and meanings, and nothing else', () => {
    const expected = definitions.map(([name, { meaning, fallback, secret }]) => [
      name,
      fallback ?? 'unset',
      secret ? `${meaning} *Secret.*` : meaning,
    ])
    expect(
      readTable(readProjectFile('docs/reference/configuration.md'), '| Variable |'),
      'write docs/reference/configuration.md again from src/platform/config/variables.ts',
    ).toEqual(expected)
  })
})

describe('docker-compose.yml', () => {
  it('passes every variable on, except the folder of the standard, which is outside the containers', () => {
    const compose = readProjectFile('docker-compose.yml')
    const [, block = ''] = /^x-environment: &environment\n((?: {2}.*\n)+)/m.exec(compose) ?? []
    const names = [...block.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)
    expect(names).toEqual(Object.keys(variables).filter((name) => name !== 'IATI_STANDARD_DIR'))
  })
})

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value
}
