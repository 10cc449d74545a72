import { ServiceError } from './errors.js'

/** What is aborted, for its message. */
export const joiningFiles = 'joining files'

/** Throws `aborted` once the signal was given; `work` begins the message. */
export function refuseAborted(signal: AbortSignal | undefined, work: string): void {
  if (signal?.aborted) throw new ServiceError('aborted', `${work} was interrupted; it will be done again`)
}
