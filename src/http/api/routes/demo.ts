import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { demoPath } from '../../../iati/addresses.js'
import { html } from '../../pages/html.js'
import { type Operation, pageForPeople } from '../contract/operation.js'
import type { OpenedPortal } from '../deps.js'
import { nothingHere } from '../errors.js'

const assets = new URL('../demo/', import.meta.url)
const pictures = 8
const pictureName = /^(?:\d{1,2}-)?(small|thumb|medium|large|xl|original)\.png$|^r\d+-\d+\.png$/
const contentSecurityPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function described(id: string, summary: string, mediaType: string, pathExamples: Operation['pathExamples'] = {}) {
  const operation: Operation = {
    ...{ id, summary, tag: 'Service', pathExamples, failures: [400, 404, 503] },
    description: 'Invented, as all demo data. For example, records of the demo name these addresses.',
    answer: { headers: ['Cache-Control', 'X-Robots-Tag'], content: { [mediaType]: { type: 'string' } } },
  }
  return { config: { operations: [operation] } }
}

/**
 * Answers the links of demo data: pages of the portal, a few pictures, a document, and a page that says that all of it is
 * invented. They need no database, since published texts may outlive it.
 */
export function demoRoutes(app: FastifyInstance, portal: OpenedPortal | undefined): void {
  app.get<{ Params: { owner: string; file: string } }>(
    `${demoPath}/img/:owner/:file`,
    described('getDemoPicture', 'A picture of demo data', 'image/png', { file: 'original.png' }),
    async (request, reply) => {
      const { owner, file } = request.params
      const logo = owner === 'org' && /^\d+\.png$/.test(file)
      const size = /^\d+$/.test(owner) ? pictureName.exec(file) : null
      if (!logo && !size) throw nothingHere(request)
      const picture = `${pictureOf(`${owner}/${file}`)}-${size?.[1] ?? 'medium'}.png`
      return send(reply, 'image/png').send(await readFile(new URL(picture, assets)))
    },
  )
  app.get<{ Params: { id: string } }>(
    `${demoPath}/files/:id/plan.pdf`,
    described('getDemoPlan', 'A document of a demo project', 'application/pdf'),
    async (request, reply) => {
      if (!/^\d+$/.test(request.params.id)) throw nothingHere(request)
      return send(reply, 'application/pdf').send(await readFile(new URL('plan.pdf', assets)))
    },
  )
  for (const address of ['projects/:name/', 'projects/:name/updates/', 'organizations/:name/', 'videos/:name/']) {
    app.get<{ Params: { name: string } }>(`${demoPath}/${address}`, pageForPeople, async (request, reply) => {
      const { name } = request.params
      const page = await portal?.addressOfDemo(address.split('/', 1)[0] ?? '', name)
      if (portal && page) return await portal.serve(request as FastifyRequest, reply, undefined, page)
      return send(reply, 'text/html; charset=utf-8')
        .header('content-security-policy', contentSecurityPolicy)
        .send(demoPage(name.replaceAll('-', ' ')))
    })
  }
}

/** Which picture an address shows: neighbours differ, and every size of one picture shows the same. */
function pictureOf(address: string): number {
  const numbers = address.match(/\d{1,6}(?=\D)/g) ?? []
  return numbers.reduce((sum, digits) => sum + Number(digits), 0) % pictures
}

function send(reply: FastifyReply, type: string): FastifyReply {
  return reply
    .header('content-type', type)
    .header('cache-control', 'public, max-age=86400')
    .header('x-robots-tag', 'noindex')
}

function demoPage(name: string): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Demo: ${name}</title></head>
<body><h1>${name}</h1>
<p>This is demo data: the projects, organizations, reports and pictures that lead here are invented.</p>
<p><a href="/">Open data of this platform</a></p></body>
</html>
`.html
}
