import { testSupervisors, usualSupervisors } from '../support/supervisors.js'

testSupervisors(usualSupervisors)
