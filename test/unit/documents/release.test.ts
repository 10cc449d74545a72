import { describe, expect, it } from 'vitest'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { notesOf, withImageVersion, withRelease } from '../../support/documents/release-section.js'

const { version } = JSON.parse(readProjectFile('package.json')) as { version: string }

describe('the version', () => {
  it('is the same in both packages, the lock, the label of the image and the newest section of CHANGELOG.md', () => {
    const lock = JSON.parse(readProjectFile('package-lock.json')) as {
      version: string
      packages: Record<string, { version: string }>
    }
    const label = /org\.opencontainers\.image\.version=(\S+)/.exec(readProjectFile('Dockerfile'))?.[1]
    const sections = [...readProjectFile('CHANGELOG.md').matchAll(/^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$/gm)]
    expect(sections[0]?.slice(1)).toEqual(['Unreleased', undefined])
    const client = (JSON.parse(readProjectFile('src/client/package.json')) as { version: string }).version
    const others = [lock.version, lock.packages['']?.version, label, sections[1]?.[1], client]
    expect(others).toEqual(Array(5).fill(version))
    const days = sections.slice(1).map(([, , day = 'none']) => day)
    expect(days).toEqual(days.toSorted().reverse())
  })
})

describe('npm version', () => {
  const head = '# Changelog\n\n## [Unreleased]\n'
  const released = '\n## [0.9.0] - 2026-01-01\n\n### Added\n\n- One.\n'
  const release = { version: '1.0.0', day: '2026-02-03' }

  it('makes what is unreleased the section of the version', () => {
    expect(withRelease(`${head}\n### Fixed\n\n- Two.\n${released}`, release)).toBe(
      `${head}\n## [1.0.0] - 2026-02-03\n\n### Fixed\n\n- Two.\n${released}`,
    )
  })

  it('is refused where nothing is unreleased, or the version is there', () => {
    expect(() => withRelease(head + released, release)).toThrow('nothing is unreleased')
    expect(() => withRelease('# Changelog\n', release)).toThrow('expected one heading')
    const again = { ...release, version: '0.9.0' }
    expect(() => withRelease(`${head}\n### Fixed\n\n- Two.\n${released}`, again)).toThrow('0.9.0 is there already')
  })

  it('writes the label of the image', () => {
    expect(withImageVersion('LABEL a=1 \\\n  org.opencontainers.image.version=0.9.0 \\\n  b=2\n', '1.0.0-rc.1')).toBe(
      'LABEL a=1 \\\n  org.opencontainers.image.version=1.0.0-rc.1 \\\n  b=2\n',
    )
  })

  it('has the section of a version as the notes of its release', () => {
    expect(notesOf(`${head}${released}\n## [0.8.0] - 2025-01-01\n\n- Old.\n`, '0.9.0')).toBe('### Added\n\n- One.\n')
    expect(() => notesOf(head + released, '0.8.0')).toThrow('no section of 0.8.0')
  })
})
