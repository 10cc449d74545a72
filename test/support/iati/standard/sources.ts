/** The revisions of the official IATI files that `data/` was extracted from; also named in `NOTICE`. */
export const sources = [
  {
    what: 'schemas',
    repository: 'https://github.com/IATI/IATI-Schemas',
    branch: 'version-2.03',
    commit: '4c9ba1e84815f57a4ffab03fdbd551ae4c71d08c',
    date: '2024-10-22',
    licence: 'CC BY 4.0',
  },
  {
    what: 'embedded code lists and the code list mapping',
    repository: 'https://github.com/IATI/IATI-Codelists',
    branch: 'version-2.03',
    commit: '75e827bacd29f77356cb43defbc0b655705432f3',
    date: '2024-03-11',
    licence: 'CC BY 4.0',
  },
  {
    what: 'other code lists',
    repository: 'https://github.com/IATI/IATI-Codelists-NonEmbedded',
    branch: 'master',
    commit: '7aeece773c60afa0265eb95e988d5e61e96d8482',
    date: '2026-06-22',
    licence: 'CC BY 4.0',
  },
] as const
