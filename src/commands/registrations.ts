import { registerAudit } from './audit.js'
import { registerBooks } from './books.js'
import { registerCompletion } from './completion.js'
import { registerDemoData } from './demo-data.js'
import { registerDisbursements } from './disbursements.js'
import { registerDoctor } from './doctor.js'
import { registerDonations } from './donations.js'
import { registerDonors } from './donors.js'
import { registerExport } from './export.js'
import { registerHealth } from './health.js'
import { registerHeld } from './held.js'
import { registerImport } from './import.js'
import { registerKeys } from './keys.js'
import { registerMaintenance } from './maintenance.js'
import { registerMigrate } from './migrate.js'
import { registerOrganizations } from './organizations.js'
import { registerPayments } from './payments.js'
import { registerProjects } from './projects.js'
import { registerPublish } from './publish.js'
import { registerReleases } from './releases.js'
import { registerServices } from './services.js'
import { registerStandard } from './standard.js'
import { registerStatus } from './status.js'
import { registerSync } from './sync.js'
import { registerThemes } from './themes.js'
import { registerUsers } from './users.js'
import { registerValidate } from './validate.js'
import { registerVerify } from './verify.js'

/** The commands, in the order of the help text. */
export const registrations = [
  registerServices,
  registerMigrate,
  registerStatus,
  registerDoctor,
  registerHealth,
  registerImport,
  registerExport,
  registerDemoData,
  registerPublish,
  registerSync,
  registerValidate,
  registerReleases,
  registerVerify,
  registerHeld,
  registerProjects,
  registerOrganizations,
  registerDonations,
  registerDonors,
  registerDisbursements,
  registerBooks,
  registerPayments,
  registerThemes,
  registerStandard,
  registerUsers,
  registerKeys,
  registerMaintenance,
  registerAudit,
  registerCompletion,
]
