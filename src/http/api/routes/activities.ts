import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Format } from '../../../catalogue/wire/write/wire-value.js'
import type { IsoInstant } from '../../../kernel/dates.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Turns } from '../../../kernel/turns.js'
import { type IndexReader, readActivity } from '../../../release/read/activity-index.js'
import { isPublishedIdentifier } from '../../../release/sql/published-identifiers.js'
import { afterSweep } from '../after-sweep.js'
import { clientNetwork } from '../client-network.js'
import { iatiActivities } from '../contract/file-operation.js'
import { objectOf } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import { mediaTypes, responseFormat } from '../negotiation.js'
import { pathText, queryValue } from '../query.js'
import { sendRead } from '../reply.js'
import { activityDocument } from '../representations/activity.js'
import { manifestLink, noRelease } from './feeds.js'

const operation: Operation = {
  id: 'getActivity',
  summary: 'One IATI activity',
  tag: 'Published files',
  conditional: [304],
  query: ['release'],
  description:
    'The activity as the live release has it, or another that is kept. A suffix .xml or .json of the identifier decides on the format before Accept does. For example, US-EIN-123456789-2045.json is that of project 2045 in JSON.',
  answer: {
    headers: ['Cache-Control', 'Content-Encoding?', 'ETag', 'Last-Modified', 'Link', 'Vary', 'X-Release'],
    content: {
      'application/json': objectOf({ 'iati-activities': { type: 'object' } }),
      'application/xml': iatiActivities,
    },
  },
  failures: [...alwaysPossible, 404, 410],
}

/** `/iati/activities/{identifier}`: one activity of the live or another kept release, in XML or JSON (iati.md 14.4). */
export function activityRoute(
  app: FastifyInstance,
  { releases, store, readIndex, turns }: ApiDeps & { readonly readIndex: IndexReader; readonly turns: Turns },
): void {
  const find = (wanted: string, kept: string | undefined): Promise<Found | undefined> =>
    afterSweep(async () => {
      const release = await (kept === undefined ? releases.live() : releases.byId(kept))
      if (!release && kept !== undefined)
        throw new ServiceError('not-found', `release ${kept.slice(0, 100)} is not kept`)
      if (!release) throw noRelease()
      const index = await readIndex(release)
      const row = index?.rowOf(wanted)
      if (!index || row === undefined) return undefined
      const { hash, changed } = index.entry(row)
      return { release: release.id, record: await readActivity(release, index, row), hash, changed }
    })

  const documentOf = async (request: FastifyRequest, format: Format, { record, changed }: Found) => {
    const draw = () => activityDocument(format, record, changed as IsoInstant)
    // Making JSON of an activity holds the event loop.
    return format === 'json' ? await turns.take(clientNetwork(request.ip), draw) : draw()
  }

  const described = { config: { operations: [operation] } }
  app.get('/iati/activities/:identifier', described, async (request, reply) => {
    const { identifier, format } = wantedOf(request)
    const found = await find(identifier, queryValue(request, 'release'))
    if (!found) throw await absent(request, identifier)
    reply.header('x-release', found.release).header('link', manifestLink)
    return await sendRead(request, reply, format, {
      document: await documentOf(request, format, found),
      version: `${found.hash} ${found.changed}`,
      mediaType: `${mediaTypes[format]}; charset=utf-8`,
      isPublic: true,
      lastModified: new Date(found.changed),
    })
  })

  const absent = async (request: FastifyRequest, identifier: string): Promise<ServiceError> =>
    (await isPublishedIdentifier(store.db, identifier))
      ? new ServiceError('activity-withdrawn', `activity ${identifier} is not published any more`)
      : nothingHere(request)
}

type Found = { readonly release: string; readonly record: Buffer; readonly hash: string; readonly changed: string }

/** The identifier without a suffix `.xml` or `.json`, which overrides `Accept`. */
function wantedOf(request: FastifyRequest): { identifier: string; format: Format } {
  const identifier = pathText(request, 'identifier')
  const [suffix, format] = /\.(xml|json)$/.exec(identifier) ?? []
  if (suffix === undefined) return { identifier, format: responseFormat(request) }
  return { identifier: identifier.slice(0, -suffix.length), format: format as Format }
}
