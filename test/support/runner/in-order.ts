import { beforeAll } from 'vitest'

/** For `describe.each`, of a story that is told in its order also when tests are shuffled: vitest takes the option there, and its types do not know it. */
export const inOrder: object = { shuffle: false }

/** The parts of a file are told in their order, too. */
export function partsInOrder(): void {
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads which fixtures a hook wants from its first parameter.
  beforeAll(({}, file) => void Object.assign(file, { shuffle: false }))
}
