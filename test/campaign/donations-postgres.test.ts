import { describeDonations } from './support/donation-processes.js'

describeDonations('postgres')
