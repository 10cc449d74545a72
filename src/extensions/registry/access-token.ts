import { readFile } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'
import { numberType, objectType, ofOthers, optional, readObject, textType } from '../../kernel/read-object.js'
import type { RegistryHttp } from './registry-http.js'

/** Gives the token of the next call; `renew`: the registry has refused the one given before. */
export type AccessToken = (renew: boolean, signal: AbortSignal) => Promise<string>

/** A client of the identity service that the registry trusts. */
export type ClientCredentials = { readonly tokenUrl: string; readonly clientId: string; readonly clientSecret: string }

/** All that this program does at the registry. */
const scopes = 'ryd ryd:reporting_org ryd:dataset ryd:dataset:update ryd:dataset:delete'

// Renewed this long before its end, so that it is valid while a call is on its way.
const marginMs = 60_000

const grantShape = objectType({
  access_token: textType(1),
  expires_in: optional(numberType('a number above 0', (seconds) => seconds > 0)),
})

/** Tokens by the client credentials grant of OAuth 2.0 (RFC 6749, section 4.4); each is kept until shortly before its end. */
export function tokenOfClient(http: RegistryHttp, credentials: ClientCredentials): AccessToken {
  const { tokenUrl, clientId, clientSecret } = credentials
  const basic = [clientId, clientSecret].map(encodeURIComponent).join(':')
  let kept: { readonly token: string; readonly until: number } | undefined
  return async (renew, signal) => {
    if (kept && !renew && performance.now() < kept.until) return kept.token
    const answer = await http.send(
      {
        method: 'POST',
        url: tokenUrl,
        headers: {
          authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes }).toString(),
      },
      signal,
    )
    if (answer.status !== 200) {
      const message = `${tokenUrl} answered ${answer.status}: check REGISTRY_CLIENT_ID and REGISTRY_CLIENT_SECRET`
      throw new ServiceError('registry-refused', message)
    }
    const grant = readObject(grantShape, answer.document, ofOthers).value
    if (!grant) throw new ServiceError('registry-unusable', `${tokenUrl} answered without a token`)
    const { access_token: token, expires_in: seconds = 0 } = grant
    kept = { token, until: performance.now() + seconds * 1000 - marginMs }
    return token
  }
}

/** A token that somebody else renews: its file is read for each call. */
export function tokenOfFile(file: string): AccessToken {
  return async () => {
    try {
      return (await readFile(file, 'utf8')).trim()
    } catch (cause) {
      throw new ServiceError('configuration-invalid', `REGISTRY_TOKEN_FILE: ${file} cannot be read`, { cause })
    }
  }
}
