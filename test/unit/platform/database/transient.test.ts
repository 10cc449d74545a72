import { expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import { isConnectionLost, toStoreError } from '../../../../src/platform/database/connection.js'
import { isRefused } from '../../../../src/platform/database/refusal.js'

const failure = (code: string | undefined, message = 'told by the server') =>
  Object.assign(new Error(message), code === undefined ? {} : { code })

it.each([
  ['08006', 'lost'],
  ['25006', 'lost'],
  ['40001', 'kept'],
  ['40P01', 'kept'],
  ['53100', 'lost'],
  ['53300', 'lost'],
  ['55P03', 'kept'],
  ['57014', 'kept'],
  ['57P01', 'lost'],
  ['57P03', 'lost'],
  ['ECONNREFUSED', 'lost'],
  ['EMFILE', 'lost'],
])('SQLSTATE or errno %s passes by itself, its connection is %s', (code, connection) => {
  const error = toStoreError(failure(code))
  expect(error).toMatchObject({ code: 'database-unavailable', status: 503 })
  expect([isConnectionLost(failure(code)), isConnectionLost(error)]).toEqual(
    connection === 'lost' ? [true, true] : [false, false],
  )
})

it('the driver says without a code that a connection broke', () => {
  const error = toStoreError(failure(undefined, 'Query read timeout'))
  expect(error).toBeInstanceOf(ServiceError)
  expect(isConnectionLost(error)).toBe(true)
})

it.each(['23505', '22P02', '42P01', '25001', undefined])('SQLSTATE %s does not pass by itself', (code) => {
  const error = failure(code)
  expect(toStoreError(error)).toBe(error)
  expect(isConnectionLost(error)).toBe(false)
})

it('a right that is missing is a matter of the address', () => {
  expect(toStoreError(failure('42501', 'permission denied for table project'))).toMatchObject({
    code: 'database-refused',
    message: 'DATABASE_URL: the database refuses this service: permission denied for table project',
  })
})

it.each([
  ['28P01', 'password authentication failed for user "giving"'],
  ['3D000', 'database "none" does not exist'],
  ['08P01', 'no such database: none'],
  ['08P01', 'unsupported startup parameter: options'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
  ['', 'The server does not support SSL connections'],
])('no waiting helps against %s: %s', (code, message) => {
  expect(isRefused(code, message)).toBe(true)
})

it.each([
  ['57P03', 'the database system is starting up'],
  ['08P01', 'query_wait_timeout'],
  ['08P01', 'pgbouncer cannot connect to server'],
  ['53300', 'sorry, too many clients already'],
  ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'],
])('%s may pass: %s', (code, message) => {
  expect(isRefused(code, message)).toBe(false)
})
