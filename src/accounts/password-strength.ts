import type { ZxcvbnFactory } from '@zxcvbn-ts/core'

/** Characters that a new password must have at least. */
const minimumPasswordLength = 12

// The time to estimate grows fast with length and substitutions; this many characters take a few ms, and a hard beginning
// does not become easy to guess by what follows.
const estimatedLength = 32
const signSubstitutions = 1

// zxcvbn's scale of 0 to 4: from 4 on, more than ten thousand million guesses.
const neededScore = 4

// Passphrases of the literature, which guessers try first and the lists of zxcvbn do not have.
const knownPhrases = [
  'correct horse battery staple',
  'the quick brown fox jumps over the lazy dog',
  'to be or not to be that is the question',
  'may the force be with you',
  'lorem ipsum dolor sit amet',
  'once upon a time',
  'open sesame',
  'trustno one',
]
const known = knownPhrases.flatMap((phrase) =>
  ['', ' ', '-', '_', '.'].map((sign) => phrase.replaceAll(' ', sign).slice(0, estimatedLength)),
)

/**
 * Words of this service, which guessers of its passwords try first; docs/reference/accounts.md lists them.
 * @internal for the test that compares the list
 */
export const serviceWords = [
  ...['giving', 'givingservice', 'projectservice', 'userservice', 'platform', 'publisher', 'publishing'],
  ...['iati', 'aid', 'charity', 'donation', 'donor', 'fundraising', 'nonprofit'],
]

let estimator: Promise<ZxcvbnFactory> | undefined

/**
 * Why a new password is refused, as what was expected; undefined when it is good. Refused are short passwords and those
 * that can be guessed from lists of common ones, words, names, dates, keyboard rows, repetitions, well-known phrases, words
 * of this service or the e-mail itself.
 */
export async function passwordProblem(password: string, email: string): Promise<string | undefined> {
  if ([...password].length < minimumPasswordLength) return `at least ${minimumPasswordLength} characters`
  estimator ??= loadEstimator()
  const { score } = (await estimator).check(password.slice(0, estimatedLength), [
    ...known,
    ...serviceWords,
    email,
    ...email.split(/[^\p{L}\p{N}]+/u),
  ])
  return score < neededScore
    ? 'a password that is not easy to guess: no common one, no repetition or sequence, no word with a year'
    : undefined
}

/** Loaded when the first password is chosen: the lists take 0.3 s and 60 MB, which most processes never need. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ])
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    l33tMaxSubstitutions: signSubstitutions,
  })
}
