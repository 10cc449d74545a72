import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import type { SFTPWrapper, Stats } from 'ssh2'
import { ServiceError } from '../../kernel/errors.js'
import { missingPackage } from '../../platform/config/own-package.js'
import { checkAddress, publicLookup } from '../../platform/outgoing/public-addresses.js'
import {
  atPlace,
  bounded,
  formOfKey,
  isHidden,
  leadsOut,
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
 * names. The secret is a private key without passphrase, or the user's password, which is the answer too where the server
 * asks for it on a keyboard (RFC 4256). The library is loaded here, since most services do not need it.
 */
export async function openSftp({ hostname, port, username, pathname }: URL, deps: PlaceDeps): Promise<SourcePlace> {
  const { source, allowPrivateNetworks, signal, limits } = deps
  const host = hostname.replace(/^\[|\]$/g, '')
  const location = decodeURIComponent(pathname)
  const what = `sftp://${hostname}${location}`
  checkAddress(new URL(`https://${hostname}`), allowPrivateNetworks)
  const missing = missingPackage('ssh2')
  if (missing) throw new ServiceError('configuration-invalid', `${what}: expected ${missing}`)
  const { default: ssh2 } = await import('ssh2')
  const login = loginOf(await readSecret(source.secretFile ?? ''), source.secretFile ?? '', ssh2.utils)
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
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => {
    // More than a password, such as a code of the day, is more than the source has.
    const isPassword = prompts.length === 1 && prompts[0]?.echo === false
    answer(isPassword && login.password !== undefined ? [login.password] : [])
  })

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
        ...login,
        tryKeyboard: login.password !== undefined,
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

  const mayBeLinks = new Set<string>()
  /** The path of a file of the folder, of a link that of the file which it leads to. */
  const pathOf = async (name: string): Promise<string> => {
    if (!isFolder || !mayBeLinks.has(name)) return location + (isFolder ? name : '')
    const real = (file: string) => call<string>((done) => sftp.realpath(file, done))
    const [root, file] = await Promise.all([real(location), real(location + name)])
    if (!file.startsWith(root.endsWith('/') ? root : `${root}/`)) throw leadsOut(name, what)
    return file
  }
  return {
    isFolder,
    list: async () => {
      if (!isFolder) return [{ name: path.posix.basename(location) }]
      const entries = await call<Entry[]>((done) =>
        sftp.readdir(location, (error, list) => done(error, list as Entry[])),
      )
      const files: PlaceFile[] = []
      for (const { filename, longname, attrs } of entries) {
        if (isHidden(filename)) continue
        const form = formOf(attrs, longname)
        if (form === 'file') files.push({ name: filename, version: versionOf(attrs) })
        if (form !== undefined) continue
        mayBeLinks.add(filename)
        // The list says nothing of what a link leads to, and some servers nothing of any entry.
        const stats = await call<Stats>((done) => sftp.stat(location + filename, done)).catch(() => undefined)
        if (stats === undefined || formOf(stats) !== 'other') files.push({ name: filename })
      }
      if (files.length > limits.files) throw sourceUnavailable(`${what} has more than ${limits.files} files`)
      return files
    },
    open: async ({ name }, known) => {
      const file = await pathOf(name)
      const stats = await call<Stats>((done) => sftp.stat(file, done))
      // Where nothing says that it is a file, reading it does.
      if (formOf(stats) === 'other')
        throw new ServiceError('input-unusable', `${what} is no file; a folder ends with a slash`)
      return versionOf(stats) === known ? undefined : { version: versionOf(stats), chunks: whole(file, stats) }
    },
    [Symbol.asyncDispose]: async () => {
      stopping.removeEventListener('abort', close)
      close()
    },
  }
}

function ignore(): void {}

type Entry = { readonly filename: string; readonly longname?: string; readonly attrs: Stats }

/** What an entry is by its mode, else by its line of `ls -l`; undefined: it is a link, or nothing tells. */
function formOf({ mode }: Pick<Stats, 'mode'>, longname = ''): 'file' | 'other' | undefined {
  const bits = mode === undefined ? undefined : mode & constants.S_IFMT
  if (bits) return bits === constants.S_IFREG ? 'file' : bits === constants.S_IFLNK ? undefined : 'other'
  const [letter] = /^[-dlbcps](?=[-rwxsStT]{9})/.exec(longname) ?? []
  return letter === '-' ? 'file' : letter === undefined || letter === 'l' ? undefined : 'other'
}

type Login = { readonly privateKey?: string; readonly password?: string }

/** How a secret proves who asks. Throws `source-unavailable` for a key that cannot be read, whose text must never be sent. */
function loginOf(secret: string, file: string, { parseKey }: typeof import('ssh2').utils): Login {
  const key = parseKey(secret)
  if (!(key instanceof Error) && key.isPrivateKey()) return { privateKey: secret }
  const form = formOfKey(secret)
  if (form === undefined) return { password: secret }
  const why = key instanceof Error && !/unsupported key format/i.test(key.message) ? ` (${key.message})` : ''
  throw sourceUnavailable(
    `${file} has ${form}, which cannot be read${why}: it was not sent. Expected a private key of OpenSSH without passphrase, ` +
      'as ssh-keygen makes it and puttygen exports it, or a password',
  )
}
