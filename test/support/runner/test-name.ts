/** What `vitest -t` takes to run a test alone; its full name has ` > ` where the names of describes end. */
export function patternOfTest(fullName: string): string {
  return `^${fullName.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')}$`
}
