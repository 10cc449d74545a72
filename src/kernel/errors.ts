import { messageOf } from './system-errors.js'

/** What a failed job should do: try again with back-off, or stop and wait for a person. */
type Remedy = 'retry' | 'stop'

type ErrorEntry = {
  /** One sentence for `docs/reference/errors.md`: when this happens. */
  readonly meaning: string
  /** HTTP status that the API answers with (wire.md 1.7). */
  readonly status: 400 | 401 | 403 | 404 | 405 | 410 | 500 | 503
  readonly remedy: Remedy
  /** Whether the message may be shown to a client as it is. */
  readonly public: boolean
}

/**
 * The one table of failures. Codes never change; `docs/reference/errors.md` lists the same codes (a test compares). Bad project
 * data is not here: that is a notice.
 */
export const errorKinds = {
  'request-malformed': {
    meaning: 'The request body or query cannot be read.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'request-invalid': {
    meaning: 'A field of the request is missing or has a wrong value.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'request-too-large': {
    meaning: 'The request body is larger than 64 KB, too deep or has too many elements.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'media-type-unsupported': {
    meaning: 'The Content-Type is neither XML nor JSON.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'webhook-refused': {
    meaning: "A payment processor's webhook has no signature, a wrong one, or one that is too old.",
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'key-missing': { meaning: 'The key is missing.', status: 401, remedy: 'stop', public: true },
  'key-unknown': {
    meaning: 'The api_key is not registered, was revoked, or its account is disabled.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'key-restricted': {
    meaning: 'The api_key was issued for other operations, or for pages of other web origins.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'credentials-wrong': {
    meaning: 'E-mail, password and api_key do not belong together.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'code-unknown': {
    meaning: 'The code of a mail or an invitation is unknown, used, expired, or was made for another e-mail.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'registration-closed': {
    meaning: 'Accounts are made by the operator, or by invitation, as REGISTRATION says.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'token-missing': {
    meaning: 'The token is missing.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'token-unknown': {
    meaning: 'The api_token is unknown, expired, revoked, or was issued for another key.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'grant-missing': {
    meaning: 'The account has not been granted this operation by the operator.',
    status: 401,
    remedy: 'stop',
    public: true,
  },
  'https-required': {
    meaning: 'Credentials came over plain HTTP from another machine.',
    status: 403,
    remedy: 'stop',
    public: true,
  },
  'not-found': {
    meaning: 'Nothing exists at this address, or no record has this identifier.',
    status: 404,
    remedy: 'stop',
    public: true,
  },
  'method-not-allowed': {
    meaning: 'The address takes other methods only; `Allow` has them.',
    status: 405,
    remedy: 'stop',
    public: true,
  },
  'project-inactive': {
    meaning: 'The project exists but has become inactive.',
    status: 410,
    remedy: 'stop',
    public: true,
  },
  'activity-withdrawn': {
    meaning: 'The activity was published once, but is not part of the live release.',
    status: 410,
    remedy: 'stop',
    public: true,
  },
  'release-missing': {
    meaning: 'Nothing has been published yet; the first release is being built.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'server-busy': {
    meaning: 'The service cannot take this request at the moment.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'payment-declined': {
    meaning: 'The payment was declined; error_number is the code of the processor.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'payment-action-required': {
    meaning: "The donor's bank asks the donor to confirm the payment.",
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'payment-pending': {
    meaning: 'The outcome of a payment is not known yet; the settlement job or a repeated request finds it.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'payment-unavailable': {
    meaning: 'The payment gateway cannot be reached; nothing was charged.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'donations-closed': {
    meaning: 'The configuration does not let the service take donations; giving status says why.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'donor-key-missing': {
    meaning: "The key that a donor's data is encrypted with is missing from DONOR_KEYS.",
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'donor-data-changed': {
    meaning: "A donor's stored data is not what was encrypted for this donation.",
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'mail-missing': {
    meaning: 'The service has no mail server (SMTP_URL); ask the operator for a new password.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'login-throttled': {
    meaning:
      'Too many failed sign-ins, new accounts or codes of this account or address; Retry-After says when to try again.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'rate-limited': {
    meaning:
      'More requests in a minute than RATE_LIMIT_PER_MINUTE allows a key or RATE_LIMIT_PER_ADDRESS an address, or too many downloads at a time.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  maintenance: {
    meaning: 'The operator has closed the API for maintenance; published files stay readable.',
    status: 503,
    remedy: 'retry',
    public: true,
  },
  'database-unavailable': {
    meaning: 'The database cannot be started or reached, or the connection was lost.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'database-refused': {
    meaning: 'The database refuses this service: wrong user, password, database, right or certificate.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'database-incompatible': {
    meaning: 'The database has another version, encoding or a newer schema than this program.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'demo-data-present': {
    meaning:
      'The store or the live release has demo data, and REPORTING_ORG_REF is a real publisher; giving reset-demo removes the data.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'demo-data-refused': {
    meaning: 'Invented data cannot be put in, or go live, under a real publisher.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'publisher-differs': {
    meaning: "Variables or a release name another publisher than the store's; giving publisher show names the store's.",
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'facts-unconfirmed': {
    meaning: 'Nobody has confirmed yet what activities say although nobody states it: giving facts lists it.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'folder-differs': {
    meaning: "This folder of published files is not the store's; giving releases folder names both.",
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'publisher-change-refused': {
    meaning: 'A publisher change was given a currency, or a value that cannot be used.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'queue-unavailable': { meaning: 'The job queue cannot be reached.', status: 503, remedy: 'retry', public: false },
  'configuration-invalid': {
    meaning: 'One or more configuration variables are missing or wrong.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'input-unusable': {
    meaning: 'A file given to a command cannot be read or holds no usable record.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'standard-missing': {
    meaning: 'The official IATI files are not where IATI_STANDARD_DIR points.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'standard-unavailable': {
    meaning: 'The official IATI files cannot be downloaded, or the download is invalid; the existing files are kept.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'storage-failed': {
    meaning: 'The data directory cannot be written or read: full, read-only, broken or owned by someone else.',
    status: 500,
    remedy: 'retry',
    public: false,
  },
  'bucket-unavailable': {
    meaning: 'The bucket cannot be reached, or refuses what is sent.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'release-corrupt': {
    meaning: 'A release on disk does not agree with its manifest.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'run-superseded': {
    meaning: 'Another process took over this publication run, or a newer release is already live.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'run-cancelled': {
    meaning: 'An operator cancelled this publication run; the live release stays.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'clock-wrong': {
    meaning: "The clock of this process differs from the database's by more than a minute.",
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'worker-lost': {
    meaning: 'Five workers in a row died while they worked on this run.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'upstream-unavailable': {
    meaning: 'The mirrored platform cannot be reached, is overloaded or breaks off its answers.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'upstream-refused': {
    meaning: 'The mirrored platform does not accept the API key or the request.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'upstream-unusable': {
    meaning: 'What the mirrored platform sends cannot be read, is too large, or never ends.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'registry-unavailable': {
    meaning: 'The IATI registry cannot be reached, is overloaded or breaks off its answers.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'registry-refused': {
    meaning: 'The IATI registry does not accept the account, knows no such publisher, or a right is missing.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'registry-conflict': {
    meaning: 'The short name of a dataset is taken in the IATI registry.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'registry-unusable': {
    meaning: 'The IATI registry answers in a way that its documentation does not describe.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'address-refused': {
    meaning: 'An address that came from data leads into a private network or is not http or https.',
    status: 500,
    remedy: 'stop',
    public: false,
  },
  'release-refused': {
    meaning: 'A release cannot be made live by hand: a newer one is live, or published identifiers would vanish.',
    status: 400,
    remedy: 'stop',
    public: true,
  },
  'source-unavailable': {
    meaning: 'The file of a source cannot be fetched completely.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  'import-needed': {
    meaning: 'Something depends on the import, so it cannot be taken back.',
    status: 400,
    remedy: 'stop',
    public: false,
  },
  aborted: {
    meaning: 'The work was interrupted by a shutdown and will be done again.',
    status: 503,
    remedy: 'retry',
    public: false,
  },
  internal: {
    meaning: 'A defect of this program; the log has the details under the request id.',
    status: 500,
    remedy: 'retry',
    public: false,
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorKinds

/** One field-level problem of an input: where, what was expected, what came; `missing`: nothing came. */
export type FieldProblem = {
  readonly field: string
  readonly expected: string
  readonly got?: string
  readonly missing?: boolean
}

/** What a page needs so that the donor can confirm a payment. */
export type RequiredAction = { readonly paymentGateway: string; readonly clientSecret: string }

/** A failure with a code of `errorKinds` and one clear sentence; `details` never hold secrets or personal data. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly problems: readonly FieldProblem[]
  /** The payment processor's code, for `error_number`. */
  readonly number: number | undefined
  /** After how many seconds another try may succeed, where that is known. */
  readonly retryAfterSeconds: number | undefined
  /** For the answer alone: whoever has it can complete the payment. */
  readonly requiresAction: RequiredAction | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown
      problems?: readonly FieldProblem[]
      number?: number
      retryAfterSeconds?: number
      requiresAction?: RequiredAction
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.problems = options.problems ?? []
    this.number = options.number
    this.retryAfterSeconds = options.retryAfterSeconds
    this.requiresAction = options.requiresAction
  }

  get status(): number {
    return errorKinds[this.code].status
  }
}

/** The error of fields that are missing or wrong; its message names all of them. */
export function invalidFields(problems: readonly FieldProblem[]): ServiceError {
  return new ServiceError('request-invalid', problems.map(problemText).join('; '), { problems })
}

/** One problem in a sentence, without what came. */
export function problemText({ field, expected }: FieldProblem): string {
  return `${field}: expected ${expected}`
}

/** Returns the error itself when it already has a code, otherwise wraps it as `internal`, keeping the cause. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return new ServiceError('internal', messageOf(error), { cause: error })
}
