/** The names of a list: its root, one record, and the key of its cursor. */
export type ListNames = { readonly list: string; readonly record: string; readonly cursor: string }

export const projectList: ListNames = { list: 'projects', record: 'project', cursor: 'nextProjectId' }
export const organisationList: ListNames = { list: 'organizations', record: 'organization', cursor: 'nextOrgId' }
