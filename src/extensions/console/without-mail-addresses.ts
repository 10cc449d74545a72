/** The text of a job without mail addresses: the refusal of a mail server may name a person. */
export function withoutMailAddresses(text: string): string {
  return text.replaceAll(/[^\s<>@"\\]+@[^\s<>@"\\]+/g, '[redacted]')
}
