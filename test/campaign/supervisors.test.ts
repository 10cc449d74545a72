import { otherSupervisors, testSupervisors } from './support/supervisors.js'

// Each landing has one of each kind of ending.
testSupervisors(otherSupervisors)
