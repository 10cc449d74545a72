import { type Format, object, type WireValue, wireDocument } from '../../../catalogue/wire/write/wire-value.js'
import { type MemberType, objectType, optional, textType } from '../../../kernel/read-object.js'
import { valueTypes } from '../../../kernel/values.js'
import { emailText, passwordText, secretText, userFields } from '../request-body.js'

/** An operation on accounts, keys or tokens: the roots of its body and answer, and the fields of the body. */
export type AccountOperation<Fields = unknown> = {
  readonly path: string
  /** Name of the operation in generated clients. */
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly root: string
  readonly body: MemberType<Fields>
  readonly answerRoot: string
  /** Name, JSON Schema type and meaning of the answer's one field. */
  readonly answer: {
    readonly field: string
    readonly type: string
    readonly meaning: string
    readonly properties?: object
  }
  /** Whether it takes no credentials, so that it never answers 401. */
  readonly anonymous?: true
}

/** The answer of an operation: its root with its one field. */
export function answerDocument(format: Format, { answerRoot, answer }: AccountOperation, value: WireValue): string {
  return wireDocument(format, answerRoot, object([[answer.field, value]]))
}

function operation<Fields>(one: AccountOperation<Fields>): AccountOperation<Fields> {
  return one
}

export const getToken = operation({
  path: '/api/userservice/tokens',
  id: 'createToken',
  summary: 'Get an access token',
  description:
    'Exchanges credentials for a token, which secure operations need beside the key. Earlier tokens stay valid until they expire. For example, a server asks for one in the morning and keeps it for its donations of the day.',
  root: 'auth_request',
  body: objectType({ user: userFields, api_key: secretText }),
  answerRoot: 'auth_response',
  answer: { field: 'access_token', type: 'string', meaning: '40 small letters and digits.' },
})

export const signOut = operation({
  path: '/api/userservice/tokens/revoke',
  id: 'revokeToken',
  summary: 'Sign out',
  description:
    'Ends a token at once. A token that is not valid any more is not an error. For example, a program signs out when it ends.',
  root: 'token_revocation_request',
  body: objectType({ api_key: secretText, access_token: secretText }),
  answerRoot: 'revocation_response',
  answer: { field: 'revoked', type: 'boolean', meaning: 'Always true: the token is not valid any more.' },
})

export const makeAccount = operation({
  path: '/api/userservice/accounts',
  id: 'createAccount',
  summary: 'Make an account',
  description:
    'The password has 12 characters or more and is not easy to guess. The account may read; secure operations need a grant of the operator. Where the service sends mail, the account is made when the e-mail is verified. REGISTRATION may ask for an invitation. For example, a developer makes an account, then asks for a key to read with.',
  root: 'account_request',
  body: objectType({ user: userFields, invitation: optional(secretText) }),
  answerRoot: 'account_response',
  answer: { field: 'email', type: 'string', meaning: 'The e-mail of the account.' },
})

export const verifyEmail = operation({
  path: '/api/userservice/accounts/verify',
  id: 'verifyAccount',
  summary: 'Verify the e-mail of a new account',
  description:
    'Makes the account that was asked for, with the code that was mailed and the password of that request. Only where the service sends mail. For example, the developer puts in the code of the message.',
  root: 'verification_request',
  body: objectType({ user: userFields, verification_code: secretText }),
  answerRoot: 'account_response',
  answer: { field: 'email', type: 'string', meaning: 'The e-mail of the account.' },
})

/** A boolean of a request, also as a text or number; absent: false. */
const truth = optional<boolean>({
  expected: valueTypes.flag.expected,
  read: (value) => (typeof value === 'object' ? undefined : valueTypes.flag.parse(String(value).trim())),
  schema: { type: ['boolean', 'string', 'number'] },
})

const passwordChanged = {
  answerRoot: 'password_response',
  answer: { field: 'changed', type: 'boolean', meaning: 'Always true: the new password is the only one.' },
} as const

export const setPassword = operation({
  path: '/api/userservice/passwords',
  id: 'changePassword',
  summary: 'Change the password of an account',
  description:
    'Ends all tokens of the account and, with revoke_keys, its keys. For example, after a laptop was lost: revoke_keys true.',
  root: 'password_change_request',
  body: objectType({ user: userFields, new_password: passwordText, revoke_keys: truth }),
  ...passwordChanged,
})

export const forgetPassword = operation({
  path: '/api/userservice/passwords/forgotten',
  id: 'requestPasswordReset',
  anonymous: true,
  summary: 'Have a code for a new password mailed',
  description:
    'The answer is the same for every e-mail; only one that has an account gets a message, usually within a minute. Where the service sends no mail, the operator gives a code. For example, a developer who has forgotten the password gives the e-mail of the account.',
  root: 'password_reset_request',
  body: objectType({ email: emailText }),
  answerRoot: 'password_reset_response',
  answer: { field: 'requested', type: 'boolean', meaning: 'Always true, whether the e-mail has an account or not.' },
})

export const replacePassword = operation({
  path: '/api/userservice/passwords/reset',
  id: 'resetPassword',
  summary: 'Set a new password with a code',
  description:
    'Ends all tokens of the account and, with revoke_keys, its keys. A code is valid once. For example, the code of the message and the new password are sent together.',
  root: 'new_password_request',
  body: objectType({ reset_code: secretText, new_password: passwordText, revoke_keys: truth }),
  ...passwordChanged,
})

export const requestKey = operation({
  path: '/api/userservice/keys',
  id: 'createKey',
  summary: 'Get an API key',
  description:
    'Issues a key, which is shown only in this answer. An account has at most 20 keys. A key can be for reads or donations only, end at an instant, and be bound to the web origins whose pages use it. For example, a page in a browser has a key for reads that is bound to its origin.',
  root: 'key_request',
  body: objectType({
    user: userFields,
    scope: optional(textType(1, 64)),
    origins: optional(textType(1, 2_000)),
    expires_at: optional(textType(1, 64)),
  }),
  answerRoot: 'key_response',
  answer: { field: 'api_key', type: 'string', meaning: 'A UUID.' },
})

export const listOwnKeys = operation({
  path: '/api/userservice/keys/list',
  id: 'listKeys',
  summary: 'List the keys of an account',
  description:
    'The keys that are not revoked: what each is for, and when it was used last, to five minutes. For example, a key that was not used for a year can be revoked.',
  root: 'key_list_request',
  body: objectType({ user: userFields }),
  answerRoot: 'key_list_response',
  answer: {
    field: 'keys',
    type: 'object',
    meaning: 'Each key with its id, scope, created_at and, where there is one, expires_at, last_used_at and origins.',
    properties: {
      key: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id', 'scope', 'created_at'],
          properties: {
            id: { type: 'integer' },
            scope: { type: 'string', enum: ['read', 'donate', 'read donate'] },
            ...Object.fromEntries(
              ['created_at', 'expires_at', 'last_used_at', 'origins'].map((name) => [name, { type: 'string' }]),
            ),
          },
        },
      },
    },
  },
})

export const giveUpKey = operation({
  path: '/api/userservice/keys/revoke',
  id: 'revokeKey',
  summary: 'Revoke an API key',
  description:
    'Ends a key of the account and all its tokens, everywhere within 5 seconds. The api_key is the key or its id in the list. For example, 12 ends the key with that id.',
  root: 'key_revocation_request',
  body: objectType({ user: userFields, api_key: secretText }),
  answerRoot: 'revocation_response',
  answer: { field: 'revoked', type: 'boolean', meaning: 'Always true: the key is not valid any more.' },
})
