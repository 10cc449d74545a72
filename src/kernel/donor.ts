/** What is known of a person who gave; `details` are names, address, note, and where the request came from. */
export type Donor = { readonly email: string; readonly details: Readonly<Record<string, string>> }

/** A key that donors' data is encrypted with, and that names payments at the processor. */
export type DonorKey = {
  readonly id: string
  readonly secret: Buffer
  /** Made by a trial, whose donations move no money. */
  readonly ofTrial?: boolean
}

const expected =
  'keys as ID:SECRET separated by commas, each ID of at most 40 letters, digits, dots, hyphens or underscores, each SECRET 32 bytes in base64, no ID twice'

/** Reads `DONOR_KEYS`: the first key encrypts, the others only decrypt. Commas and line ends separate keys. */
export function parseDonorKeys(text: string): { value: readonly DonorKey[] } | { expected: string } {
  const keys: DonorKey[] = []
  for (const part of text.split(/[\s,]+/).filter((one) => one !== '')) {
    const [, id, encoded] = /^([\w.-]{1,40}):([A-Za-z0-9+/_-]{43}=?)$/.exec(part) ?? []
    if (id === undefined || encoded === undefined || keys.some((key) => key.id === id)) return { expected }
    keys.push({ id, secret: Buffer.from(encoded, 'base64') })
  }
  return keys.length > 0 ? { value: keys } : { expected }
}
