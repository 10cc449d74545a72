import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import type { MailText } from './mail-template.js'

/** How one message ended; `code` is the server's reply. Nothing else of a reply is kept, since it may name the recipient. */
export type SendOutcome =
  | { readonly kind: 'sent' }
  /** The server takes no message for this recipient. */
  | { readonly kind: 'refused'; readonly code: number }
  /** The message was certainly not taken. */
  | { readonly kind: 'not-sent'; readonly code?: number | undefined }
  /** The connection broke while the message was being handed over: it may have been taken. */
  | { readonly kind: 'unknown' }

export type MailMessage = MailText & {
  readonly to: string
  /** The same for every try, so that a server that sees a message twice can tell. */
  readonly id: string
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends messages through the server of an address such as `smtps://user:password@mail.example.org`. */
export class SmtpSender {
  readonly #url: URL
  readonly #from: string

  constructor(url: string, from: string) {
    this.#url = new URL(url)
    this.#from = from
  }

  /** Sends one message on a connection of its own. The signal ends it until the message is handed over. */
  async send(message: MailMessage, signal: AbortSignal): Promise<SendOutcome> {
    const connection = await this.#connection()
    let handedOver = false
    const broken = failureOf(connection, signal, () => handedOver)
    try {
      const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
      const composed = new MailComposer({
        from: this.#from,
        to: { name: '', address: message.to },
        subject: message.subject,
        text: message.text,
        html: message.html,
        messageId: `<${message.id}@${domainOf(this.#from)}>`,
        headers: { 'Auto-Submitted': 'auto-generated', ...message.headers },
        disableFileAccess: true,
        disableUrlAccess: true,
      }).compile()
      const bytes = await composed.build()
      await this.#signIn(connection, broken)
      // The server has agreed to take the message when this is read.
      const body = new Readable({
        read() {
          handedOver = true
          this.push(bytes)
          this.push(null)
        },
      })
      const envelope = { from: composed.getEnvelope().from, to: [message.to] }
      await Promise.race([broken, called((done) => connection.send(envelope, body, done))])
      return { kind: 'sent' }
    } catch (error) {
      return toOutcome(error, handedOver)
    } finally {
      connection.close()
    }
  }

  /** Signs in as for a message, and sends none. Throws what the server or the network says. */
  async check(signal: AbortSignal): Promise<void> {
    const connection = await this.#connection()
    try {
      await this.#signIn(
        connection,
        failureOf(connection, signal, () => false),
      )
    } finally {
      connection.close()
    }
  }

  /** Its package is loaded with the first message: most processes send none. */
  async #connection(): Promise<SMTPConnection> {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection')
    return new Connection(connectionOptions(this.#url))
  }

  async #signIn(connection: SMTPConnection, broken: Promise<never>): Promise<void> {
    await Promise.race([broken, called((done) => connection.connect(done))])
    const { username, password } = this.#url
    if (username === '') return
    const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
    await Promise.race([broken, called((done) => connection.login(auth, done))])
  }
}

/** Rejects when the connection fails or ends, or when it is to stop before a message was handed over. */
function failureOf(connection: SMTPConnection, signal: AbortSignal, handedOver: () => boolean): Promise<never> {
  const broken = new Promise<never>((_, reject) => {
    connection.once('error', reject)
    const stop = () => void (handedOver() || reject(new Error('stopped')))
    signal.addEventListener('abort', stop, { once: true })
    connection.once('end', () => {
      signal.removeEventListener('abort', stop)
      // Some closed connections do not end the call that waits for an answer.
      reject(new Error('closed'))
    })
  })
  // No call waits any more when the connection breaks after the last one.
  broken.catch(() => undefined)
  return broken
}

function domainOf(from: string): string {
  return /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost'
}

/** A callback as a promise. */
function called(call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))
}

function connectionOptions(url: URL) {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return {
    host,
    ...(url.port !== '' && { port: Number(url.port) }),
    secure: url.protocol === 'smtps:',
    // Mail has names and codes, so it goes to other machines only encrypted.
    requireTLS: !isLoopbackHost(host) && url.searchParams.get('requireTLS') !== 'false',
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  }
}

type SmtpFailure = { readonly code?: unknown; readonly responseCode?: unknown; readonly command?: unknown }

function toOutcome(error: unknown, handedOver: boolean): SendOutcome {
  const { responseCode, command } = (error instanceof Error ? error : {}) as SmtpFailure
  const code = typeof responseCode === 'number' ? responseCode : undefined
  if (code === undefined) return handedOver ? { kind: 'unknown' } : { kind: 'not-sent' }
  const ofMessage = command === 'RCPT TO' || (command === 'DATA' && handedOver)
  return ofMessage && code >= 500 ? { kind: 'refused', code } : { kind: 'not-sent', code }
}
