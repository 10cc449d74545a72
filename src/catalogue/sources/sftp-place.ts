import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import type { SFTPWrapper, Stats } from 'ssh2'
import { ServiceError } from '../../kernel/errors.js'
import { checkAddress, publicLookup } from '../../platform/outgoing/public-addresses.js'
import {
  atPlace,
  bounded,
  isHidden,
  type PlaceDeps,
  type PlaceFile,
  readSecret,
  type SourcePlace,
  sourceUnavailable,
  toPlaceError,
} from './place.js'

/** The fingerprint of a server's key, as `ssh-keygen -l` prints it. */
export const hostKeyPattern = /^SHA256:[A-Za-z0-9+/]{43}$/

/**
 * A file of an SFTP server, or with a slash at the end the files of a folder. The server must have the key that the source
 * names. The secret is a private key without passphrase, or the user's password. The library is loaded here, since most
 * services do not need it.
 */
export async function openSftp({ hostname, port, username, pathname }: URL, deps: PlaceDeps): Promise<SourcePlace> {
  const { source, allowPrivateNetworks, signal, limits } = deps
  const host = hostname.replace(/^\[|\]$/g, '')
  const location = decodeURIComponent(pathname)
  const what = `sftp://${hostname}${location}`
  checkAddress(new URL(`https://${hostname}`), allowPrivateNetworks)
  const secret = await readSecret(source.secretFile ?? '')
  const { default: ssh2 } = await import('ssh2')
  const client = new ssh2.Client()
  const stopping = AbortSignal.any([signal, AbortSignal.timeout(limits.totalMs)])
  const socket = connect({ host, port: Number(port || 22), ...(!allowPrivateNetworks && { lookup: publicLookup }) })
  const close = () => {
    client.end()
    socket.destroy()
  }
  stopping.addEventListener('abort', close, { once: true })
  // Nobody else hears of a connection that breaks between two calls.
  let broken: Error | undefined
  client.on('error', (error: Error) => {
    broken ??= error
  })
  socket.on('error', ignore)

  /** Calls the server, which must answer in time while the connection lasts. */
  const call = async <T>(ask: (done: (error: Error | null | undefined, value: T) => void) => void): Promise<T> => {
    const answer = () =>
      new Promise<T>((resolve, reject) => {
        const late = setTimeout(() => reject(sourceUnavailable(`${what}: no answer in time`)), limits.idleMs)
        const end = (work: () => void) => {
          clearTimeout(late)
          client.off('close', ended)
          client.off('error', ended)
          work()
        }
        const ended = (error?: Error) => end(() => reject(error ?? broken ?? new Error('the connection was closed')))
        client.once('close', ended)
        client.once('error', ended)
        ask((error, value) => end(() => (error ? reject(error) : resolve(value))))
      })
    return await atPlace(what, deps, answer)
  }

  try {
    await once(socket, 'connect', { signal: AbortSignal.any([stopping, AbortSignal.timeout(limits.connectMs)]) })
    let seen = ''
    await call<void>((done) => {
      client.once('ready', () => done(null, undefined))
      client.connect({
        ...{ sock: socket, username: decodeURIComponent(username), readyTimeout: limits.connectMs },
        ...(/^-----BEGIN /.test(secret) ? { privateKey: secret } : { password: secret }),
        hostVerifier: (key: Buffer) => {
          seen = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
          return seen === source.hostKey
        },
      })
    }).catch((error: unknown) => {
      if (seen === '' || seen === source.hostKey) throw error
      throw sourceUnavailable(`${what}: the server has the key ${seen}, and the source names ${source.hostKey}`)
    })
  } catch (error) {
    close()
    signal.throwIfAborted()
    throw toPlaceError(error, what)
  }
  const sftp = await call<SFTPWrapper>((done) => client.sftp(done)).catch((error: unknown) => {
    close()
    throw error
  })
  sftp.on('error', ignore)
  const versionOf = ({ size, mtime }: Pick<Stats, 'size' | 'mtime'>) =>
    `${size} bytes of ${new Date(mtime * 1000).toISOString()}`
  const isFolder = location.endsWith('/')

  async function* whole(file: string, before: Stats): AsyncGenerator<Buffer> {
    const stream = sftp.createReadStream(file)
    // A request that the closed connection leaves open fails after the last chunk was taken.
    stream.on('error', ignore)
    const late = setTimeout(() => stream.destroy(sourceUnavailable(`${what}: no data in time`)), limits.idleMs)
    const cut = () => stream.destroy(broken ?? sourceUnavailable(`${what}: the connection was closed`))
    client.once('close', cut)
    let bytes = 0
    try {
      for await (const chunk of bounded(stream as AsyncIterable<Buffer>, what, deps)) {
        late.refresh()
        bytes += chunk.length
        yield chunk
      }
    } finally {
      clearTimeout(late)
      client.off('close', cut)
      stream.destroy()
    }
    const after = await call<Stats>((done) => sftp.stat(file, done))
    if (versionOf(after) !== versionOf(before)) throw sourceUnavailable(`${file} was changed while it was read`)
    if (bytes !== before.size) throw sourceUnavailable(`${file} was cut: ${bytes} of ${before.size} bytes came`)
  }

  return {
    list: async () => {
      if (!isFolder) return [{ name: path.posix.basename(location) }]
      const entries = await call<{ filename: string; attrs: Stats }[]>((done) =>
        sftp.readdir(location, (error, list) => done(error, list as { filename: string; attrs: Stats }[])),
      )
      const files = entries.flatMap(({ filename, attrs }): PlaceFile[] =>
        attrs.isFile() && !isHidden(filename) ? [{ name: filename, version: versionOf(attrs) }] : [],
      )
      if (files.length > limits.files) throw sourceUnavailable(`${what} has more than ${limits.files} files`)
      return files.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    open: async ({ name }, known) => {
      const file = isFolder ? location + name : location
      const stats = await call<Stats>((done) => sftp.stat(file, done))
      if (!stats.isFile()) throw new ServiceError('input-unusable', `${what} is no file; a folder ends with a slash`)
      return versionOf(stats) === known ? undefined : { version: versionOf(stats), chunks: whole(file, stats) }
    },
    [Symbol.asyncDispose]: async () => {
      stopping.removeEventListener('abort', close)
      close()
    },
  }
}

function ignore(): void {}
