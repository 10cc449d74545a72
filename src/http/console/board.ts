import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { type FastifyInstance, fastify } from 'fastify'
import { signOutPath } from './pages/frame.js'
import { withoutMailAddresses } from './without-mail-addresses.js'

/** A queue as Bull Board reads it. */
export type BoardQueue = ConstructorParameters<typeof BullMQAdapter>[0]

/** Bull Board is a program in the browser: it needs its own scripts, and styles in its elements. */
const boardPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The path of its pages. */
export const boardPath = '/board'

/** Its scripts read where they are from an element of this name. Here it belongs to no namespace, so that it is no base of the page. */
const baseScript = `document.head.append(document.createElementNS(null, 'base'))
document.head.lastChild.setAttribute('href', '${boardPath}/')
`
const baseScriptPath = `${boardPath}/base.js`

/**
 * Bull Board over these queues, for reading only. Its packages are loaded here, since they take a quarter of a second that a
 * start does not need.
 */
export async function createBoard(queues: readonly BoardQueue[]): Promise<FastifyInstance> {
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ])
  const serverAdapter = new FastifyAdapter()
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false })),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        boardLogo: { path: `${boardPath}/static/images/logo.svg` },
        miscLinks: [{ text: 'Sign out', url: signOutPath }],
      },
    },
  })
  serverAdapter.setBasePath(boardPath)
  const app = fastify()
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.header('content-security-policy', boardPolicy)
    if (typeof payload !== 'string') return payload
    return withoutMailAddresses(
      payload
        // Its page asks another host for a font.
        .replace(/<link href="https:\/\/fonts\.[^>]*>/, '')
        .replace(/<base [^>]*>/, `<script defer src="${baseScriptPath}"></script>`)
        .replaceAll(/(src|href)="static\//g, `$1="${boardPath}/static/`),
    )
  })
  app.get(baseScriptPath, async (_request, reply) => reply.type('text/javascript; charset=utf-8').send(baseScript))
  await app.register(serverAdapter.registerPlugin(), { prefix: boardPath })
  await app.ready()
  return app
}
