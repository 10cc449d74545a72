import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ApiDeps } from '../deps.js'
import { responseFormat } from '../negotiation.js'
import { issueAccessToken } from '../operations/issue-access-token.js'
import { sendDocument } from '../reply.js'
import { authDocument } from '../representations/auth-response.js'
import { readBody, requiredText } from '../request-body.js'

const authRequest = z.object({
  user: z.object({ email: requiredText, password: requiredText }),
  api_key: requiredText,
})

/** The token operation (specification 4.1): 200 with `auth_response`; the only operation whose key is in the body. */
export function tokenRoutes(app: FastifyInstance, deps: Pick<ApiDeps, 'store' | 'passwords' | 'clock'>): void {
  app.post('/api/userservice/tokens', async (request, reply) => {
    const { user, api_key: apiKey } = readBody(request, 'auth_request', authRequest)
    const token = await issueAccessToken(deps, { email: user.email, password: user.password, apiKey })
    const format = responseFormat(request)
    return sendDocument(reply, format, authDocument(format, token), 'no-store')
  })
}
