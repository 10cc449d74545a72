/** A text of a job: a mail server may name a person in what it refuses. */
export function withoutMailAddresses(text: string): string {
  return text.replaceAll(/[^\s<>@"\\]+@[^\s<>@"\\]+/g, '[redacted]')
}
