import { redisMissing } from '../support/servers/redis.js'
import { processorNames } from './support/donation-faults/processors.js'
import { describeSecrecy } from './support/donation-secrecy.js'
import { scaled } from './support/scale.js'

const donations = scaled(300)
for (const processor of processorNames) {
  describeSecrecy({ processor, donations, kills: scaled(10) })
}
if (redisMissing() === undefined) describeSecrecy({ processor: 'sandbox', donations, kills: 2, redis: true })
