/** The lines of a text of any size, as it comes. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    let from = 0
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, from)) {
      yield rest.toString('utf8', from, end)
      from = end + 1
    }
    rest = rest.subarray(from)
  }
  if (rest.length > 0) yield rest.toString('utf8')
}
