import { execFile, spawnSync } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { listen, testApi } from '../../../support/api/api.js'
import { pythonClientFile } from '../../../support/api/python-client.js'
import { projectRoot } from '../../../support/documents/how-to.js'
import { insertDonationTargets } from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('the client for Python is not tried: python3 is not installed')

const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
const projects = Array.from({ length: 61 }, (_, index) => index + 1)

/** What a program prints that has imported the client. */
async function inPython(program: string): Promise<string> {
  const lines = [
    'import json',
    'from giving import AnswerError, Client',
    ...program.split('\n').map((line) => line.replace(/^ {6}/, '')),
  ]
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: path.join(projectRoot, path.dirname(pythonClientFile)),
  }
  const { stdout } = await promisify(execFile)('python3', ['-c', lines.join('\n')], { env })
  return stdout
}

describe.skipIf(!hasPython)('the client for Python', async () => {
  const { store } = await testDatabase()
  let url = ''
  beforeAll(async () => {
    const api = await testApi(store)
    url = await listen(api.app)
    await inPython(`Client('${url}').create_account({'account_request': {'user': ${JSON.stringify(user)}}})`)
    await recordGrant(store.db, await getAccountId(store.db, user.email), 'donations', api.now)
    await insertDonationTargets(store.db, projects)
  })

  it('signs up, gets a key and its tokens, pages, donates once, and tells an error', async () => {
    const stdout = await inPython(`
      user = ${JSON.stringify(user)}
      key = Client('${url}').create_key({'key_request': {'user': user}})['key_response']['api_key']
      client = Client('${url}', api_key=key, user=user)
      print([project['id'] for project in client.records(client.list_projects, limit=50)] == list(range(1, 62)))
      payment = {'firstname': 'Lina', 'lastname': 'Okoro', 'paymentGateway': 'braintree',
        'paymentGatewayKey': 'sandbox_demo_key', 'paymentGatewayNonce': 'fake-valid-nonce'}
      donation = {'refcode': 'spring', 'transactionId': 'py-1', 'email': 'lina@example.org', 'amount': 40,
        'project': {'id': 61}, 'payment_detail': payment}
      for _ in range(2):
        print(client.donate({'donation': donation})['donation']['receipt']['totalAmountBilled'])
      client.api_token = 'no-token-of-this-service'
      print(client.create_client_token()['client_token']['token'] != '')
      try:
        client.donate({'donation': {**donation, 'transactionId': 'py-2', 'amount': -1}})
      except AnswerError as error:
        print(error.status, error.entries[0]['error_message'], key in str(error))
      try:
        client.get_project('..')
      except ValueError as error:
        print(error)`)
    const [paged, first, second, renewed, refused, noStep] = stdout.trim().split('\n')
    expect([paged, first, second, renewed]).toEqual(['True', '40.00', '40.00', 'True'])
    expect(refused).toMatch(/^400 .*amount.* False$/)
    expect(noStep).toBe('expected a value for the address, got ".."')
    const { rows } = await store.db.query(`select project_id, amount from donation where transaction_id like 'py-%'`)
    expect(rows).toEqual([{ projectId: 61, amount: '40.000' }])
  })

  it('sends a read and a donation again after 503 and a lost connection, and no other write', async () => {
    const asked: string[] = []
    const service = createServer((request: IncomingMessage, response) => {
      asked.push(`${request.method} ${request.url}`)
      if (asked.length % 3 === 1) return request.socket.destroy()
      const status = asked.length % 3 === 2 ? 503 : 200
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' }).end('{"amount": 0.10}')
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    try {
      const stdout = await inPython(`
      waited = []
      client = Client('http://127.0.0.1:${(service.address() as AddressInfo).port}', wait=waited.append)
      print(repr(client.get_project(1)['amount']), waited)
      client.donate({'donation': {'transactionId': 'tx'}})
      for attempt in (lambda: client.donate({'donation': {}}), lambda: client.revoke_key({})):
        try:
          attempt()
        except (OSError, AnswerError) as error:
          print(type(error).__name__)`)
      expect(stdout).toBe("Decimal('0.10') [1, 7]\nRemoteDisconnected\nAnswerError\n")
      const [read, donation] = [
        'GET /api/public/projectservice/projects/1',
        'POST /api/secure/givingservice/donationsclient',
      ]
      expect(asked).toEqual([
        read,
        read,
        read,
        donation,
        donation,
        donation,
        donation,
        'POST /api/userservice/keys/revoke',
      ])
    } finally {
      service.close()
    }
  })
})
