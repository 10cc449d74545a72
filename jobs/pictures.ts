import type { Work } from './work-row.js'

/** Fetches pictures of the live release's pages into the operator's mirror, every minute some. A tick more or less does no harm. */
export const pictures: Work<'pictures'> = {
  name: 'pictures',
  fields: ['pictures'],
  queues: { settlement: 5 },
  schedules: (config) => (config.pictures ? { pictures: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ mirrorPictures }) => mirrorPictures && { tick: ({ signal }) => mirrorPictures(signal) },
}
