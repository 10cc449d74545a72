/** Notices about a file as a whole. */
export const fileNotices = {
  'xml-unreadable': {
    severity: 'error',
    official: ['0.1.1'],
    sentence: 'The file is not well-formed XML, or its encoding cannot be decoded; the rest of it was not checked.',
  },
  'prefix-unbound': {
    severity: 'error',
    official: [],
    standard: 'Namespaces in XML 1.0, 5',
    sentence: 'The prefix of an element or attribute is not declared (Namespaces in XML).',
  },
  'record-too-large': {
    severity: 'error',
    official: [],
    standard: 'a limit of this check',
    sentence: 'A record is larger than a record may be (docs/reference/limits.md) and was not checked.',
  },
  'version-other': {
    severity: 'error',
    official: [],
    standard: 'a limit of this check',
    sentence: 'The file is not of a version of the standard that can be checked: 2.01 to 2.03.',
  },
  'version-earlier': {
    severity: 'info',
    official: [],
    sentence:
      'The file is of version 2.01 or 2.02; it was checked by the rules of 2.03, to which these are compatible.',
  },
  'generated-in-future': {
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'The time at which the file was generated lies in the future.',
  },
  'generated-missing': {
    severity: 'warning',
    official: [],
    sentence: 'The file does not say when it was generated.',
  },
  'identifier-repeated': {
    severity: 'error',
    official: ['1.1.2'],
    sentence: 'Two records of the file have the same identifier.',
  },
  'reporting-org-several': {
    severity: 'error',
    official: [],
    standard: 'schema: reporting-org, "must contain the same @ref"',
    sentence: 'The file has more than one reporting organisation.',
  },
  'linked-activity-missing': {
    severity: 'info',
    official: ['1000.0.1', '1000.0.2', '1000.0.3', '1000.0.4', '1000.0.5', '1000.0.6'],
    sentence: 'An activity that is referred to is not in the file (it may be published elsewhere).',
  },
  'record-tag-hidden': {
    severity: 'warning',
    official: [],
    sentence:
      'A comment or CDATA section holds the tag of a record, which consumers that cut files by text search misread.',
  },
  'file-too-large': {
    severity: 'warning',
    official: [],
    sentence: 'The file is larger than the 60,000,000 bytes that consumers of IATI read.',
  },
} as const
