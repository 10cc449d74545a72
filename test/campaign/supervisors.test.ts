import { otherSupervisors, testSupervisors } from './support/supervisors.js'

// `npm test` has one of each kind of ending.
testSupervisors(otherSupervisors)
