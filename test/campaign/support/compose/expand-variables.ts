/**
 * Replaces the variables of a Compose file as Compose does, defaults within defaults included, which Debian's
 * docker-compose 1.29 does not know.
 */
export function expandVariables(text: string, environment: Readonly<Record<string, string>>): string {
  const innermost = /\$\{(\w+)(?::([-?])([^${}]*))?\}/g
  const expanded = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(innermost, (_whole, name: string, kind?: string, rest?: string) => {
      const value = environment[name]
      if (value) return value
      if (kind === '?') throw new Error(`${name}: ${rest}`)
      return rest ?? ''
    })
  return expanded === text ? text : expandVariables(expanded, environment)
}
