/** Who publishes, in what currency and language: facts of a store since its first release that was not a trial's. */
export type PublisherIdentity = {
  readonly ref: string
  readonly type: string
  readonly currency: string
  readonly language: string
}

/** The variables that the facts are configured with. */
export const publisherVariables = {
  ref: 'REPORTING_ORG_REF',
  type: 'REPORTING_ORG_TYPE',
  currency: 'DEFAULT_CURRENCY',
  language: 'DEFAULT_LANGUAGE',
} as const

export type PublisherFact = keyof typeof publisherVariables

export const publisherFacts = Object.keys(publisherVariables) as PublisherFact[]

/** The facts as they are configured; no identifier: a trial. */
export type ConfiguredPublisher = Omit<PublisherIdentity, 'ref'> & { readonly ref: string | undefined }

/** One sentence for each variable that differs from what is recorded: both values, and what fixes it. */
export function publisherDifferences(recorded: PublisherIdentity, configured: ConfiguredPublisher): string[] {
  return publisherFacts.flatMap((fact) => {
    const [was, is] = [recorded[fact], configured[fact]]
    if (is === was) return []
    const variable = publisherVariables[fact]
    const change = `giving publisher change --from ${was} --to ${is}`
    const otherwise =
      fact === 'currency'
        ? `; amounts are never relabelled, and ${change} says what would have to be converted`
        : is === undefined
          ? ''
          : `, or confirm the change with ${change}`
    return [`${variable} is ${is ?? 'not set'}, and this store has ${was}: set ${variable}=${was} again${otherwise}`]
  })
}
