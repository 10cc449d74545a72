import { ServiceError } from '../../kernel/errors.js'

/** The address of another service without trailing slash, from it or from the address of its manifest. Throws `input-unusable`. */
export function toBaseUrl(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new ServiceError('input-unusable', `expected an http or https address, got "${url}"`)
  }
  return `${base.origin}${base.pathname}`.replace(/\/feeds\/manifest\.json$/, '').replace(/\/+$/, '')
}
