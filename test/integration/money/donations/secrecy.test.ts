import { describeSecrecy } from '../../../campaign/support/donation-secrecy.js'

// The campaign does the same at each processor, with more donations.
describeSecrecy({ processor: 'sandbox', donations: 12, kills: 1 })
