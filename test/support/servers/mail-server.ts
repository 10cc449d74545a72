import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'

/** A message that the server took. */
export type TakenMail = { readonly to: readonly string[]; readonly raw: string }

/** A real SMTP server on a loopback port. */
export type MailServer = {
  readonly url: string
  readonly port: number
  readonly taken: TakenMail[]
  /** Breaks every connection. */
  cut(): void
  close(): Promise<void>
}

type MailServerOptions = SMTPServerOptions & { readonly onTaken?: () => void | Promise<void> }

/** Starts a server, which is closed after the test. `onTaken` runs before it confirms a message. */
export async function startMailServer(options: MailServerOptions = {}, port = 0): Promise<MailServer> {
  const server = await openMailServer(options, port)
  onTestFinished(server.close)
  return server
}

/** Starts a server that its caller closes. */
export async function openMailServer(options: MailServerOptions = {}, port = 0): Promise<MailServer> {
  const { onTaken, ...given } = options
  const taken: TakenMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1')
        taken.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw })
        void Promise.resolve(onTaken?.()).then(() => done())
      })
    },
    ...given,
  })
  // Clients that are killed leave errors behind.
  server.on('error', () => undefined)
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.server.address()
  const bound = typeof address === 'object' ? (address?.port ?? 0) : 0
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return {
    url: `smtp://127.0.0.1:${bound}`,
    port: bound,
    taken,
    cut: () => sockets.forEach((socket) => void socket.destroy()),
    close,
  }
}

/** The headers, each on one line, and the parts of a message by media type. */
export function readMail({ raw }: TakenMail): {
  readonly headers: string
  readonly text: string
  readonly html: string
} {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, end).replace(/\r\n[ \t]+/g, ' ')
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1] ?? ''
  const parts = raw.slice(end).split(`--${boundary}`)
  const part = (type: string) => {
    const found = parts.find((one) => one.includes(`Content-Type: ${type}`)) ?? ''
    const body = found.slice(found.indexOf('\r\n\r\n') + 4)
    if (/encoding: base64/i.test(found)) return Buffer.from(body, 'base64').toString('utf8')
    return /quoted-printable/i.test(found) ? fromQuotedPrintable(body) : body
  }
  return { headers, text: part('text/plain'), html: part('text/html') }
}

function fromQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
