import type { Extension } from './cli/extension.js'
import { braintree } from './extensions/braintree/extension.js'
import { bucket } from './extensions/bucket/extension.js'
import { bulk } from './extensions/bulk/extension.js'
import { console } from './extensions/console/extension.js'
import { descriptions } from './extensions/descriptions/extension.js'
import { hub } from './extensions/hub/extension.js'
import { portal } from './extensions/portal/extension.js'
import { registry } from './extensions/registry/extension.js'
import { sources } from './extensions/sources/extension.js'
import { stripe } from './extensions/stripe/extension.js'
import { subscriptions } from './extensions/subscriptions/extension.js'
import { verify } from './extensions/verify/extension.js'

/** All extensions, in the order in which they are shown. The console imports sources; none else imports another. */
const extensions: readonly Extension[] = [
  // Who charges donations.
  stripe,
  braintree,
  // Where records come from every night.
  sources,
  // What is published beside records and feeds.
  descriptions,
  bulk,
  // Who has, or is told, what is live.
  bucket,
  subscriptions,
  registry,
  hub,
  // How a stranger checks it.
  verify,
  // What readers and operators look at.
  portal,
  console,
]

/** What all extensions say of one thing, in the order of the list. */
export function ofExtensions<Key extends keyof Extension>(key: Key): NonNullable<Extension[Key]>[] {
  return extensions.map((extension) => extension[key]).filter((said) => said !== undefined)
}
