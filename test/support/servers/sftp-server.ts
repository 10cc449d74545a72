import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Stats } from 'node:fs'
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import ssh2, { type Attributes, type Connection, type SFTPWrapper } from 'ssh2'

const { STATUS_CODE } = ssh2.utils.sftp

export type SftpServer = AsyncDisposable & {
  readonly port: number
  /** The fingerprint of its key. */
  readonly hostKey: string
  /** Asks for the password on a keyboard only, as servers with a second factor do. */
  asksOnKeyboard: boolean
  /** Whether it says of files and links what they are. */
  sendsModes: boolean
  /** Every text that was sent to it as a password. */
  readonly passwords: string[]
  /** Called before each piece of a file is sent; `cut` breaks the connection off, `silent` answers nothing. */
  onRead: (offset: number) => 'send' | 'cut' | 'silent' | Promise<'send'>
}

/** A pair of keys as files have them. Of the pairs that ssh2 makes, one in some hundreds cannot be read, by itself neither. */
export function newSshKeys(): { readonly public: string; readonly private: string } {
  const keys = ssh2.utils.generateKeyPairSync('ed25519')
  const areRead = [keys.public, keys.private].every((text) => !(ssh2.utils.parseKey(text) instanceof Error))
  return areRead ? keys : newSshKeys()
}

/** An SFTP server that lets one user with one key, or a password, read a folder. */
export async function startSftpServer(
  folder: string,
  { publicKey, password }: { readonly publicKey: string; readonly password: string },
): Promise<SftpServer> {
  const keys = newSshKeys()
  const [, encoded = ''] = keys.public.split(' ')
  const allowed = ssh2.utils.parseKey(publicKey)
  if (allowed instanceof Error) throw allowed
  const connections = new Set<Connection>()
  const server = new ssh2.Server({ hostKeys: [keys.private] }, (client) => {
    connections.add(client)
    client.on('error', () => undefined)
    client.on('close', () => connections.delete(client))
    client.on('authentication', (context) => {
      if (context.username !== 'giving') return context.reject()
      if (context.method === 'password') state.passwords.push(context.password)
      if (state.asksOnKeyboard && context.method === 'keyboard-interactive') {
        return context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) =>
          answer === password ? context.accept() : context.reject(),
        )
      }
      if (state.asksOnKeyboard) return context.reject(['keyboard-interactive'])
      if (context.method === 'password' && context.password === password) return context.accept()
      if (context.method !== 'publickey') return context.reject(['publickey', 'password'])
      const isKey = context.key.data.equals(allowed.getPublicSSH())
      const isSigned =
        !context.signature || allowed.verify(context.blob ?? '', context.signature, context.hashAlgo) === true
      return isKey && isSigned ? context.accept() : context.reject()
    })
    client.on('session', (accept) => accept().on('sftp', (acceptSftp) => serve(acceptSftp(), client)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function serve(sftp: SFTPWrapper, client: Connection): void {
    const handles: { readonly file: string; listed: boolean }[] = []
    const inFolder = (name: string) => path.join(folder, name)
    const answer = (id: number, work: () => Promise<void>) => {
      work().catch(() => sftp.status(id, STATUS_CODE.NO_SUCH_FILE))
    }
    const give = (id: number, file: string) => {
      handles.push({ file, listed: false })
      sftp.handle(id, Buffer.from([handles.length - 1]))
    }
    const handleOf = (handle: Buffer) => handles[handle[0] ?? 0] ?? { file: '', listed: true }
    const attributesOf = (stats: Stats) => {
      const { mode, ...rest } = allAttributesOf(stats)
      return (state.sendsModes ? { mode, ...rest } : rest) as Attributes
    }
    const sendStats = (id: number, file: string) =>
      answer(id, async () => void sftp.attrs(id, attributesOf(await stat(file))))
    sftp.on('OPEN', (id, name) => give(id, inFolder(name)))
    sftp.on('OPENDIR', (id, name) => give(id, inFolder(name)))
    sftp.on('STAT', (id, name) => sendStats(id, inFolder(name)))
    sftp.on('LSTAT', (id, name) => sendStats(id, inFolder(name)))
    sftp.on('FSTAT', (id, handle) => sendStats(id, handleOf(handle).file))
    sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK))
    sftp.on('READDIR', (id, handle) =>
      answer(id, async () => {
        const one = handleOf(handle)
        if (one.listed) return void sftp.status(id, STATUS_CODE.EOF)
        one.listed = true
        const names = await readdir(one.file)
        const entries = await Promise.all(
          names.map(async (filename) => {
            const stats = await lstat(path.join(one.file, filename))
            const letter = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-'
            return { filename, longname: `${letter}rw-r--r-- 1 a a 1 Jan 1 ${filename}`, attrs: attributesOf(stats) }
          }),
        )
        sftp.name(id, entries)
      }),
    )
    sftp.on('REALPATH', (id, name) =>
      answer(id, async () => {
        const filename = (await realpath(inFolder(name))).replace(folder, '')
        sftp.name(id, [{ filename, longname: filename, attrs: {} as Attributes }])
      }),
    )
    sftp.on('READ', (id, handle, offset, length) =>
      answer(id, async () => {
        const now = await state.onRead(offset)
        if (now === 'cut') return void client.end()
        if (now === 'silent') return
        const file = await open(handleOf(handle).file)
        const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset)
        await file.close()
        if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF)
        else sftp.data(id, buffer.subarray(0, bytesRead))
      }),
    )
  }

  const state: SftpServer = {
    port: (server.address() as AddressInfo).port,
    hostKey: `SHA256:${createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('base64').replace(/=+$/, '')}`,
    ...{ onRead: () => 'send', asksOnKeyboard: false, sendsModes: true, passwords: [] },
    [Symbol.asyncDispose]: async () => {
      for (const client of connections) client.end()
      server.close()
    },
  }
  return state
}

function allAttributesOf({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats): Attributes {
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) }
}
