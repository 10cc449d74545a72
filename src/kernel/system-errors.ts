/** The code of an error of the operating system (`ENOENT`, `EACCES`, ...); undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** True when the error has one of these codes of the operating system. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return codes.includes(errnoOf(error) ?? '')
}

/** What was read from a file or folder; undefined where it is not there. */
export async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

/** What a failure says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
