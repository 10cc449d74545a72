/** Whether `npm run test:all` runs, or a file alone; `npm test` leaves some cases out. */
export const runsAll = process.env.SOME_CASES === undefined && !process.argv.includes('store')

/** One in `step` of cases that differ little, from the `first` on; all of them where everything runs. */
export function someOf<Case>(cases: readonly Case[], step: number, first = 0): readonly Case[] {
  return runsAll ? cases : cases.filter((_, index) => index % step === first)
}
