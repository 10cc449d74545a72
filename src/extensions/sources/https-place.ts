import path from 'node:path'
import { chunksOf, type HttpAnswer, HttpClient } from '../../platform/outgoing/http-client.js'
import { atPlace, bounded, type PlaceDeps, readPassword, type SourcePlace, sourceUnavailable } from './place.js'

const mostRedirects = 5

/** A file behind an https address. A user in the address makes the secret a password; without, it is a bearer token. */
export async function openHttps(address: URL, deps: PlaceDeps): Promise<SourcePlace> {
  const { source, allowPrivateNetworks, signal, limits } = deps
  const { connectMs, idleMs, totalMs, bytes } = limits
  const url = new URL(address)
  const user = decodeURIComponent(url.username)
  url.username = ''
  const secret = source.secretFile === undefined ? undefined : await readPassword(source.secretFile)
  const authorization =
    secret === undefined
      ? undefined
      : user === ''
        ? `Bearer ${secret}`
        : `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  // A name may resolve to another address later, so no origin is trusted.
  const client = new HttpClient({ connectMs, idleMs, guard: { trustedOrigin: '', allowPrivateNetworks } })
  // Never the query: it may have a secret.
  const what = `${url.origin}${url.pathname}`
  const whyRefused =
    source.secretFile === undefined
      ? 'the source has no secret file'
      : `it does not take the secret of ${source.secretFile}`
  const ask = async (conditions: Readonly<Record<string, string>>): Promise<HttpAnswer> => {
    for (let at = url, hops = 0; ; hops++) {
      const isOwn = at.origin === url.origin
      const headers = { ...conditions, ...(isOwn && authorization !== undefined && { authorization }) }
      const answer = await client.send(at, { headers, signal, totalMs })
      if (answer.location === undefined || answer.status === 304) return answer
      answer.body.destroy()
      if (hops === mostRedirects) throw sourceUnavailable(`${what} leads on more than ${mostRedirects} times`)
      const next = URL.canParse(answer.location, at.href) ? new URL(answer.location, at) : undefined
      if (!next || (next.protocol !== 'https:' && next.origin !== url.origin)) {
        throw sourceUnavailable(`${what} leads to an address without https`)
      }
      at = next
    }
  }
  return {
    isFolder: false,
    list: async () => [{ name: path.posix.basename(url.pathname) || url.hostname }],
    open: (_file, known) =>
      atPlace(what, deps, async () => {
        const answer = await ask(conditionsOf(known))
        const { status, headers } = answer
        if (status === 304 && known !== undefined) {
          answer.body.destroy()
          return undefined
        }
        if (status !== 200) {
          answer.body.destroy()
          const isRefused = status === 401 || status === 403
          throw sourceUnavailable(`${what} answered ${status}${isRefused ? `: ${whyRefused}` : ''}`)
        }
        if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
          answer.body.destroy()
          throw sourceUnavailable(
            `${what} does not say how long its answer is, so that nobody could tell a whole one from a part`,
          )
        }
        const chunks = chunksOf(answer, bytes, () => sourceUnavailable(`${what} has more than ${bytes} bytes`))
        return { version: versionOf(headers), chunks: bounded(chunks, what, deps) }
      }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/** What the server says of this version, as JSON. */
function versionOf({ etag, 'last-modified': modified }: HttpAnswer['headers']): string | undefined {
  return etag === undefined && modified === undefined ? undefined : JSON.stringify({ etag, modified })
}

function conditionsOf(known: string | undefined): Record<string, string> {
  if (known === undefined) return {}
  const { etag, modified } = JSON.parse(known) as { readonly etag?: string; readonly modified?: string }
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(modified !== undefined && { 'if-modified-since': modified }),
  }
}
