const unreleased = '## [Unreleased]\n'

/** The changelog in which everything that was unreleased is the section of a version. Throws when there is nothing to release. */
export function withRelease(changelog: string, { version, day }: { version: string; day: string }): string {
  const [head = '', rest] = changelog.split(unreleased)
  if (rest === undefined) throw new Error('CHANGELOG.md: expected one heading "## [Unreleased]"')
  if (!/^\s*###/.test(rest)) throw new Error('CHANGELOG.md: nothing is unreleased')
  if (rest.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md: ${version} is there already`)
  return `${head}${unreleased}\n## [${version}] - ${day}\n${rest}`
}

/** A Dockerfile with the version in the label of its image, or a kustomization with it in its tag. */
export function withImageVersion(file: string, version: string): string {
  return file.replace(/(image\.version=|newTag: )\S+/, `$1${version}`)
}

/** What the changelog says about a version. Throws when it says nothing. */
export function notesOf(changelog: string, version: string): string {
  const section = changelog.split(/^(?=## \[)/m).find((text) => text.startsWith(`## [${version}]`))
  const notes = section?.slice(section.indexOf('\n')).trim()
  if (!notes) throw new Error(`CHANGELOG.md: no section of ${version}`)
  return `${notes}\n`
}
