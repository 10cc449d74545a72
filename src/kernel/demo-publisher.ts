// "Example Data Prefix" of IATI's list OrganisationRegistrationAgency: no organisation is ever registered there.
const examplePrefix = 'XE-EXAMPLE-'

/** The publisher of trials that name none. */
export const demoReportingOrgRef = `${examplePrefix}INVENTED`

/** The publisher of trials before 1.1, which looked like a registered one. */
export const formerDemoRef = 'US-EIN-000000000'

/** What identifiers of activities begin with that are only of trials; `reset-demo` withdraws them. */
export const demoIdentifierPrefixes = [examplePrefix, `${formerDemoRef}-`] as const

/** Whether what is published under this reference is only for trials. */
export function isDemoPublisher(ref: string | undefined): boolean {
  return ref === undefined || ref === formerDemoRef || ref.startsWith(examplePrefix)
}

/** The demo of a first start: so many projects, with ids from here. */
export const firstDemoId = 9_000_001
export const demoProjects = 120
