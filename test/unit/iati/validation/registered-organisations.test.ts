import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readRegisteredOrganisations } from '../../../../src/iati/validation/index.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

let directory: string
beforeEach(async () => {
  directory = await temporaryFolder()
  await mkdir(join(directory, 'codelists'))
})

const write = (name: string, text: string) => writeFile(join(directory, 'codelists', name), text)

describe('the registered publishers of a folder', () => {
  it('are those of its newest list', async () => {
    await write('registered-publishers-2026-01.json', '[{"iati_id":"XM-DAC-1"}]')
    await write('registered-publishers-2026-08.json', '[{"iati_id":"XM-DAC-2"},{"iati_id":"ODD/7"}]')
    await write('codelists.json', '{}')
    expect(await readRegisteredOrganisations(directory)).toEqual(new Set(['XM-DAC-2', 'ODD/7']))
  })

  it('are unknown without a list or a folder', async () => {
    expect(await readRegisteredOrganisations(directory)).toBeUndefined()
    expect(await readRegisteredOrganisations(join(directory, 'none'))).toBeUndefined()
    expect(await readRegisteredOrganisations(undefined)).toBeUndefined()
  })

  it.each(['{}', '[null]', '[{"iati_id":7}]'])('are told when the list is none: %s', async (text) => {
    await write('registered-publishers.json', text)
    await expect(readRegisteredOrganisations(directory)).rejects.toMatchObject({ code: 'standard-missing' })
  })
})
