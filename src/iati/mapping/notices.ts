import type { Severity } from '../../kernel/notice.js'

/** Notices of the mapping about its source data; `docs/reference/notices.md` lists them with those of validation. */
export const mappingNotices = {
  'render-failed': {
    severity: 'error',
    sentence: 'A value of the project cannot be written as IATI.',
  },
  'identifier-foreign': {
    severity: 'error',
    sentence:
      'The identifier that the project brings does not begin with an identifier of the publisher, present or earlier.',
  },
  'identifier-unusable': {
    severity: 'error',
    sentence: 'The identifier that the project brings has a character that the standard forbids in identifiers.',
  },
  'identifier-taken': {
    severity: 'error',
    sentence:
      'Another project brings the identifier that this one would get by default; give this one its own in `iatiIdentifier`.',
  },
  'country-unknown': {
    severity: 'warning',
    sentence: 'A country code of the project is not an active code of the IATI Country list and was left out.',
  },
  'recipient-unknown': {
    severity: 'info',
    sentence: 'The project names no usable country and is reported as worldwide (region 998).',
  },
  'sector-unknown': {
    severity: 'info',
    sentence: 'No theme of the project is mapped to a DAC purpose code; 99810 (sectors not specified) is reported.',
  },
  'humanitarian-contradicted': {
    severity: 'warning',
    sentence: 'A purpose code of the activity is one of emergencies, and its theme says that it is not humanitarian.',
  },
  'sdg-unknown': {
    severity: 'warning',
    sentence:
      'A code of the project is neither a Sustainable Development Goal nor one of its targets and was left out.',
  },
  'organisation-unknown': {
    severity: 'info',
    sentence: 'The project has no organisation, so no implementing organisation is named.',
  },
  'organisation-ref-unusable': {
    severity: 'warning',
    sentence:
      'The identifier of an organisation is not one of its own from a known registration agency; only its name is reported.',
  },
  'start-date-derived': {
    severity: 'info',
    sentence: 'The project has no approval date; the earliest date known of it is reported as its planned start.',
  },
  'deadline-unusable': {
    severity: 'warning',
    sentence: 'The deadline lies before the start, or so far after it that it stands for no end; it was left out.',
  },
  'budget-period-derived': {
    severity: 'info',
    sentence: 'The project is over and has no deadline; its goal is reported for its first 12 months.',
  },
  'budget-unknown': {
    severity: 'info',
    sentence: 'The project is over and the period of its goal is not known; no budget is reported.',
  },
  'location-unusable': {
    severity: 'info',
    sentence: 'The coordinates are 0,0 or incomplete and were left out.',
  },
  'link-unusable': {
    severity: 'info',
    sentence: 'An address is not an absolute http or https URL and was left out.',
  },
  'format-unknown': {
    severity: 'info',
    sentence: 'A document or photo has a media type that is not on the IATI FileFormat list and was left out.',
  },
  'kept-left-out': {
    severity: 'info',
    sentence:
      'A part of the activity from before the move says nothing (an empty reference) or cannot be written (an undeclared prefix), and was left out.',
  },
  'money-in-future': {
    severity: 'warning',
    sentence: 'Money is dated after today; it is left out until that day.',
  },
} as const satisfies Record<string, { severity: Severity; sentence: string }>

export type MappingNoticeCode = keyof typeof mappingNotices
