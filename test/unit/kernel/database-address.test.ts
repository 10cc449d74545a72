import { expect, it } from 'vitest'
import { readDatabaseAddress } from '../../../src/kernel/database-address.js'

it('takes several servers apart, with one user, database and certificate', () => {
  expect(
    readDatabaseAddress('postgres://u:p%40@a,b:5433/giving?target_session_attrs=read-write&sslmode=verify-full'),
  ).toEqual({
    servers: ['postgres://u:p%40@a/giving?sslmode=verify-full', 'postgres://u:p%40@b:5433/giving?sslmode=verify-full'],
    target: 'read-write',
    settings: {},
    startOptions: undefined,
  })
})

it('leaves an address of one server, or of a socket, as it is', () => {
  for (const url of ['postgres://u@db.example:6432/giving', 'postgresql:///giving?host=%2Fvar%2Frun%2Fpostgresql']) {
    expect(readDatabaseAddress(url)).toMatchObject({ servers: [url], target: 'any' })
  }
})

it('reads settings as PostgreSQL does, and keeps what is none', () => {
  const options = encodeURIComponent(String.raw`-c search_path=a,\ b --work-mem=9MB -cTimeZone=UTC endpoint=one`)
  expect(readDatabaseAddress(`postgres://db/giving?options=${options}`)).toEqual({
    servers: ['postgres://db/giving'],
    target: 'any',
    settings: { search_path: 'a, b', work_mem: '9MB', timezone: 'UTC' },
    startOptions: 'endpoint=one',
  })
})

it.each([
  'mysql://db/giving',
  'giving',
  'postgres://a,/giving',
  'postgres://a:port/giving',
  'postgres://a/giving?target_session_attrs=prefer-standby',
  'postgres://a/giving?options=-c%20work_mem',
])('refuses %s', (url) => {
  expect(readDatabaseAddress(url)).toBeUndefined()
})
