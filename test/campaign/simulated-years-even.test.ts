import { describeYears } from './support/simulated-years.js'

describeYears('even')
