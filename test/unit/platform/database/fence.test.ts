import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { Fence } from '../../../../src/platform/database/fence.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const at = (timeline: number, system = '7000000000000000001') => ({ system, timeline })
const now = new Date()

it('knows an older primary by what any process with the folder has seen', async () => {
  const folder = await temporaryFolder()
  const [one, two] = [new Fence(folder), new Fence(folder)]
  expect([one.noteServer(at(1)), two.noteServer(at(1)), two.noteServer(at(3))]).toEqual([false, false, false])
  expect(one.isBehind(at(1))).toBe(false)
  one.refresh()
  expect([one.isBehind(at(1)), one.isBehind(at(3)), one.isBehind(at(4)), one.isBehind(at(1, '8'))]).toEqual([
    true,
    false,
    false,
    false,
  ])
  // A standby takes no writes anyway.
  expect([one.noteServer(at(0)), one.refusal]).toEqual([false, undefined])
  expect([one.noteServer(at(2)), one.refusal]).toEqual([
    true,
    expect.stringContaining('at timeline 2, and timeline 3 was seen'),
  ])
  two.refresh()
  expect([two.refusal, two.problem(now)]).toEqual([
    undefined,
    expect.stringMatching(/^on .*: the database is an older primary/),
  ])
  expect(two.problem(new Date(now.getTime() + 3_600_000))).toBeUndefined()
  expect([new Fence(folder).noteServer(at(2)), new Fence(folder).noteServer(at(3))]).toEqual([true, false])
  expect(readdirSync(folder)).toEqual(['database-seen'])
})

it('lets an older primary count when a person says so, until a newer one is met again', async () => {
  const folder = await temporaryFolder()
  const [one, two] = [new Fence(folder), new Fence(folder)]
  one.noteServer(at(2))
  two.noteServer(at(1))
  two.accept(at(1), now)
  expect([two.refusal, two.noteServer(at(1))]).toEqual([undefined, false])
  one.refresh()
  expect([one.noteServer(at(1)), one.noteServer(at(2)), one.noteServer(at(1))]).toEqual([false, false, true])
  expect(() => new Fence(path.join(folder, 'none')).accept(at(1), now)).toThrow('ENOENT')
})

it('remembers alone where there is no folder, and writes what it knows once there is one', async () => {
  const folder = await temporaryFolder()
  const alone = new Fence(path.join(folder, 'none'))
  expect([alone.noteServer(at(2)), alone.noteServer(at(1))]).toEqual([false, true])
  const file = path.join(folder, 'database-seen')
  const torn = new Fence(folder)
  torn.noteServer(at(2))
  writeFileSync(file, '{"timelines":')
  expect(torn.noteServer(at(1))).toBe(true)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ timelines: { [at(2).system]: 2 } })
})

it('learns what machines with other folders have seen, and what a person decided there', async () => {
  const [one, two] = [new Fence(await temporaryFolder()), new Fence(await temporaryFolder())]
  let bucket: string | undefined
  const share = (fence: Fence) => {
    const newer = fence.exchange(bucket)
    bucket = newer ?? bucket
    return newer !== undefined
  }
  expect([share(one), bucket]).toEqual([false, undefined])
  one.noteServer(at(2))
  two.noteServer(at(1))
  two.noteServer(at(5, '8'))
  expect([share(one), share(two), share(one), share(two)]).toEqual([true, true, false, false])
  expect([two.noteServer(at(1)), one.isBehind(at(4, '8'))]).toEqual([true, true])
  two.accept(at(1), now)
  expect([share(one), share(two), share(one)]).toEqual([false, true, false])
  expect([one.noteServer(at(1)), one.seen('8')]).toEqual([false, 5])
  bucket = 'none of ours'
  expect([share(one), share(two), two.seen('8')]).toEqual([true, false, 5])
})

it('keeps for its folder what another machine has seen', async () => {
  const [folder, other] = [await temporaryFolder(), new Fence(await temporaryFolder())]
  other.noteServer(at(3))
  const later = new Fence(folder)
  new Fence(folder).exchange(other.exchange(undefined))
  later.refresh()
  expect([later.isBehind(at(2)), new Fence(folder).isBehind(at(2))]).toEqual([true, true])
})
