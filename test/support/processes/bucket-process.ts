import { deliverRelease } from '../../../src/extensions/bucket/deliver-release.js'
import { openStore } from '../../../src/platform/database/store.js'

// Delivers the live release to a bucket, until it is killed: DATABASE FEEDS_DIR ENDPOINT.
const [url = '', feedsDir = '', endpoint = ''] = process.argv.slice(2)
await using store = openStore({ url, max: 2, applicationName: 'bucket process' })
const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const bucket = { name: 'giving', region: 'us-east-1', endpoint, keys }
await deliverRelease({ store, feedsDir, clock: () => new Date(), bucket }, new AbortController().signal)
