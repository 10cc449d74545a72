import type { Work } from './work-row.js'

/** Fetches some pictures of the live release's pages into the mirror every minute. A tick that comes twice or not at all does no harm. */
export const pictures: Work<'pictures'> = {
  name: 'pictures',
  fields: ['pictures'],
  queues: { settlement: 5 },
  schedules: (config) => (config.pictures ? { pictures: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ mirrorPictures }) => mirrorPictures && { tick: ({ signal }) => mirrorPictures(signal) },
}
