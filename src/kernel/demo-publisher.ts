/**
 * The publisher of demo data: the shape of a real identifier with a number that is never given out. What is published
 * under it is removed by `reset-demo`.
 */
export const demoReportingOrgRef = 'US-EIN-000000000'

/** Whether what is published under this reference is only for trials. */
export function isDemoPublisher(ref: string | undefined): boolean {
  return ref === undefined || ref === demoReportingOrgRef
}
