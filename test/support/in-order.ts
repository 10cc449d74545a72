/** For `describe.each`, of a story that is told in its order also when tests are shuffled: vitest takes the option there, and its types do not know it. */
export const inOrder: object = { shuffle: false }
