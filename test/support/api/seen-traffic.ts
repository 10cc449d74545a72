/** What the APIs of the running test file answered; `api-traffic.ts` records it. */
export const seenTraffic = {
  /** Such as `GET /a/{b} 200 application/json`. */
  seen: new Set<string>(),
  /** What the description of the API does not say. */
  problems: new Set<string>(),
}
