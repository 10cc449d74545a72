const pageSize = 1000

/** Rows with ascending ids, read page by page, so that a list of any length needs the memory of one page. */
export async function* inPages<Row extends { readonly id: number }>(
  { after = 0, limit = Number.POSITIVE_INFINITY }: { readonly after?: number; readonly limit?: number },
  read: (page: { readonly after: number; readonly limit: number }) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let left = limit
  for (let last: number | undefined = after; last !== undefined && left > 0; ) {
    const asked = Math.min(pageSize, left)
    const page = await read({ after: last, limit: asked })
    if (page.length > 0) yield page
    left -= page.length
    last = page.length < asked ? undefined : page.at(-1)?.id
  }
}
