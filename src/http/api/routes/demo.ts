import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { organisationGraphs } from '../../../catalogue/sql/organisations.js'
import { demoPath } from '../../../iati/addresses.js'
import { ServiceError } from '../../../kernel/errors.js'
import { html } from '../../portal/html.js'
import type { Portal } from '../../portal/portal.js'
import { type Operation, pageForPeople } from '../contract/operation.js'
import { demoPicture } from '../demo-picture.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import { servePage } from './portal.js'

const widths: Readonly<Record<string, number>> = {
  small: 64,
  thumb: 96,
  medium: 192,
  large: 384,
  xl: 512,
  original: 640,
}
const pictureName = /^(?:\d{1,2}-)?(small|thumb|medium|large|xl|original)\.png$|^r\d+-\d+\.png$/
const contentSecurityPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function described(id: string, summary: string, mediaType: string, pathExamples: Operation['pathExamples'] = {}) {
  const operation: Operation = {
    ...{ id, summary, tag: 'Service', pathExamples, failures: [400, 404, 503] },
    answer: { headers: ['Cache-Control', 'X-Robots-Tag'], content: { [mediaType]: { type: 'string' } } },
  }
  return { config: { operations: [operation] } }
}

/**
 * Answers the links of demo data: pages of the portal, pictures drawn here, a document, and a page that says that all of it
 * is invented. They need no database, since published texts may outlive it.
 */
export function demoRoutes(app: FastifyInstance, deps: ApiDeps, portal: Portal | undefined): void {
  app.get<{ Params: { owner: string; file: string } }>(
    `${demoPath}/img/:owner/:file`,
    described('getDemoPicture', 'A picture of demo data', 'image/png', { file: 'original.png' }),
    async (request, reply) => {
      const { owner, file } = request.params
      const logo = owner === 'org' && /^\d+\.png$/.test(file)
      const size = /^\d+$/.test(owner) ? pictureName.exec(file) : null
      if (!logo && !size) throw nothingHere(request)
      // Every size of a picture shows the same.
      const name = `${owner}/${size?.[1] ? file.replace(size[1], '') : file}`
      return send(reply, 'image/png').send(demoPicture(name, widths[size?.[1] ?? 'medium'] ?? 192))
    },
  )
  app.get<{ Params: { id: string } }>(
    `${demoPath}/files/:id/plan.pdf`,
    described('getDemoPlan', 'A document of a demo project', 'application/pdf'),
    async (request, reply) => {
      if (!/^\d+$/.test(request.params.id)) throw nothingHere(request)
      return send(reply, 'application/pdf').send(demoPlan(request.params.id))
    },
  )
  for (const address of ['projects/:name/', 'projects/:name/updates/', 'organizations/:name/', 'videos/:name/']) {
    app.get<{ Params: { name: string } }>(`${demoPath}/${address}`, pageForPeople, async (request, reply) => {
      const { name } = request.params
      const page = portal && (await pageAbout(deps, portal, address.split('/', 1)[0] ?? '', name))
      if (portal && page) return await servePage(portal, request as FastifyRequest, reply, undefined, page)
      return send(reply, 'text/html; charset=utf-8')
        .header('content-security-policy', contentSecurityPolicy)
        .send(demoPage(name.replaceAll('-', ' ')))
    })
  }
}

/** The page of the portal that an address of the demo stands for. */
async function pageAbout(
  { store, log }: ApiDeps,
  portal: Portal,
  kind: string,
  name: string,
): Promise<string | undefined> {
  if (kind !== 'organizations') {
    const project = await portal.projectOfPage(`${demoPath}/projects/${name}/`)
    return project === undefined ? undefined : `/projects/${project}`
  }
  if (!/^\d{1,15}$/.test(name)) return undefined
  try {
    const [graph] = await organisationGraphs(store.db, [Number(name)])
    const key = graph && (await portal.partnerNamed(graph.organisation.name))
    return key === undefined ? undefined : `/organisations/${encodeURIComponent(key)}`
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, 'the page of a demo organisation is not found')
    return undefined
  }
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

/** A PDF of one line of text. */
function demoPlan(id: string): Buffer {
  const text = `BT /F1 18 Tf 72 720 Td (Plan of the invented demo project ${id}) Tj ET`
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>',
    `<</Length ${text.length}>>\nstream\n${text}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]
  let body = '%PDF-1.4\n'
  const offsets: number[] = []
  for (const [index, object] of objects.entries()) {
    offsets.push(body.length)
    body += `${index + 1} 0 obj\n${object}\nendobj\n`
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`
  return Buffer.from(`${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}${trailer}`, 'latin1')
}
