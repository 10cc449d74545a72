/** What an inspection of `giving doctor` says of one thing. */
export type Finding = {
  /** `fix`: it does not work, or soon will not; `note`: it works, and an operator should know it. */
  readonly state: 'good' | 'note' | 'fix'
  readonly message: string
  /** What to do next: a command or a page. */
  readonly next?: string
}

export const good = (message: string): Finding => ({ state: 'good', message })
export const note = (message: string, next?: string): Finding => ({ state: 'note', message, ...(next && { next }) })
export const fix = (message: string, next: string): Finding => ({ state: 'fix', message, next })
