import { testSupervisors, usualSupervisors } from '../campaign/support/supervisors.js'

testSupervisors(usualSupervisors)
