import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { DonorVault } from '../../../../src/money/donors/donor-vault.js'
import { findDonor } from '../../../../src/money/donors/find-donor.js'
import { eraseDonor } from '../../../../src/money/sql/donors.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import {
  donationFields,
  donationJson,
  donationXml,
  insertDonationTargets,
  testDonors,
} from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

/** A donation to another project than that of the documented requests, whose answers have its totals. */
const gift: typeof donationFields = (changes, payment) => donationFields({ project: { id: 2046 }, ...changes }, payment)

const v1 = '/api/secure/givingservice/donations'
const v2 = '/api/secure/givingservice/donationsclient'

describe('the donation operations', async () => {
  const { store } = await testDatabase()

  const issueToken = async () => {
    const { email, password } = testUser
    const payload = JSON.stringify({ auth_request: { user: { email, password }, api_key: api.apiKey } })
    const headers = { 'content-type': 'application/json' }
    const answer = await api.app.inject({ method: 'POST', url: '/api/userservice/tokens', payload, headers })
    return answer.json().auth_response.access_token as string
  }
  const api = await testApi(store)
  await insertDonationTargets(store.db, [2045, 2046, 2047])
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', api.now)
  const token = await issueToken()
  const base = await listen(api.app)
  const post = (path: string, payload: string, type: string, query = '', headers: Record<string, string> = {}) =>
    api.app.inject({
      method: 'POST',
      url: `${path}?api_key=${api.apiKey}&api_token=${token}${query}`,
      payload,
      headers: { 'content-type': type, ...headers },
    })
  const donate = (changes: Record<string, unknown> = {}, payment: Record<string, unknown> = {}) =>
    post(v2, JSON.stringify({ donation: gift(changes, payment) }), 'application/json')
  /** What a client sees that sends these bytes after a donation, on a connection of its own. */
  const donateRaw = async (changes: Record<string, unknown>, connection: 'close' | 'keep-alive', after: string) => {
    const { hostname, port } = new URL(base)
    const payload = JSON.stringify({ donation: gift(changes, {}) })
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${v2}?api_key=${api.apiKey}&api_token=${token} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}${after}`,
    )
    return await text(socket)
  }
  const donations = async () =>
    (await store.db.query<{ n: number }>('select count(*) as n from donation')).rows[0]?.n ?? 0

  it('answer the documented XML request, a test of version 1, in XML, and store nothing', async () => {
    const before = await donations()
    const untouched = donationXml.replace('2045', '2047')
    const answer = await post(v1, untouched, 'application/xml;charset=UTF-8', '&is_test=True')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/xml')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toContain('<chargedAmount>40.00</chargedAmount>')
    expect(answer.body).toContain('<funding>1290.00</funding>')
    expect(answer.body).toContain('<numberOfDonations>38</numberOfDonations>')
    expect(answer.body).toContain('<payment_detail><address>3 Quay Street</address><city>Galway</city>')
    expect(answer.body).toMatch(/<receiptNumber>R\d+-GC\d+-\w+<\/receiptNumber>/)
    expect(await donations()).toBe(before)
  })

  it('have a token for the page that makes the nonce, in both formats, for granted accounts only', async () => {
    const path = '/api/secure/givingservice/clienttoken'
    const url = `${path}?api_key=${api.apiKey}&api_token=${token}`
    const json = await api.app.inject({ url, headers: { accept: 'application/json' } })
    expect(json.json()).toEqual({ client_token: { paymentGateway: 'sandbox', token: 'sandbox-client-token' } })
    expect(json.headers['cache-control']).toBe('no-store')
    const xml = await api.app.inject({ url, headers: { accept: 'application/xml' } })
    expect(xml.body).toContain('<client_token><paymentGateway>sandbox</paymentGateway><token>sandbox-client-token')
    expect((await api.app.inject({ url: `${path}?api_key=${api.apiKey}` })).statusCode).toBe(401)
  })

  it.each(['1', '0', 'false', 'TRUE'])('take is_test=%s, a boolean of XML Schema, in both formats', async (value) => {
    const before = await donations()
    for (const [type, payload] of [
      ['application/xml', donationXml],
      ['application/json', JSON.stringify({ donation: gift({}, { paymentGatewayNonce: undefined }) })],
    ] as const) {
      const answer = await post(v1, payload, type, `&is_test=${value}`)
      // Version 1 takes tests only.
      expect([type, answer.statusCode]).toEqual([type, value === '1' || value === 'TRUE' ? 200 : 400])
    }
    expect(await donations()).toBe(before)
  })

  it('answer the documented JSON request, version 2, in JSON, with the totals after it', async () => {
    const answer = await post(v2, donationJson, 'application/json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.json().donation).toEqual({
      amount: 40,
      chargedAmount: 40,
      currencyCode: 'USD',
      datetime: '2026-11-21T09:00:00.000+00:00',
      email: 'lina@example.org',
      project: {
        funding: 1290,
        goal: 8000,
        id: 2045,
        numberOfDonations: 38,
        progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
        projectLink: 'https://giving.example/projects/wells-for-tara/',
        remaining: 6710,
      },
      refcode: 'spring-drive',
      signupForCharityNewsletter: true,
      signupForGGNewsletter: false,
      transactionId: 'tx-000072',
      checkedOut: true,
      receipt: {
        currencyCode: 'USD',
        receiptNumber: expect.stringMatching(/^R\d+-GC\d+-\w+$/),
        taxDeductibleContributionAmount: 40,
        totalAmountBilled: 40,
      },
    })
    const again = await post(v2, donationJson, 'application/json')
    expect(again.body).toBe(answer.body)
    const shown = await api.app.inject(`/api/public/projectservice/projects/2045.json?api_key=${api.apiKey}`)
    expect(shown.json().project).toMatchObject({ funding: 1290, numberOfDonations: 38, remaining: 6710 })
  })

  it.each([
    ['12.5', ['12.50', '"12.5"', ' "12.500" ', '<amount>12.50</amount>', '<amount>12.5</amount>']],
    ['"25.00"', ['25', '"25"', '<amount>25</amount>']],
  ])('are the same request however the amount is written: %s', async (first, others) => {
    const xml = (amount: string, transactionId: string) =>
      `<donation><refcode>spring-drive</refcode><transactionId>${transactionId}</transactionId><email>lina@example.org</email>${amount}` +
      '<project><id>2046</id></project><currencyCode>USD</currencyCode><signupForGGNewsletter>false</signupForGGNewsletter>' +
      '<signupForCharityNewsletter>true</signupForCharityNewsletter><payment_detail><firstname>Lina</firstname>' +
      '<lastname>Okoro</lastname><paymentGateway>braintree</paymentGateway><paymentGatewayKey>sandbox_demo_key' +
      '</paymentGatewayKey><paymentGatewayNonce>fake-valid-nonce</paymentGatewayNonce></payment_detail></donation>'
    const transactionId = `tx-${randomUUID()}`
    const fields = gift({ transactionId, amount: 'AMOUNT' })
    const send = (amount: string) =>
      amount.startsWith('<')
        ? post(v2, xml(amount, transactionId), 'application/xml', '', { accept: 'application/json' })
        : post(v2, JSON.stringify({ donation: fields }).replace('"AMOUNT"', amount), 'application/json')
    const answer = await send(first)
    const before = await donations()
    for (const other of others) expect((await send(other)).body, other).toBe(answer.body)
    expect(await donations()).toBe(before)
    expect((await send('26')).statusCode).toBe(400)
  })

  it('have a tax-deductible amount without the tip to the platform', async () => {
    const { donation } = (await donate({ addon: { amount: 3 } })).json()
    expect(donation).toMatchObject({ chargedAmount: 43 })
    expect(donation.receipt).toMatchObject({ taxDeductibleContributionAmount: 40, totalAmountBilled: 43 })
  })

  it('are declined with error_number', async () => {
    const answer = await donate({}, { paymentGatewayNonce: 'fake-processor-declined-visa-nonce' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error_response: {
        error_code: 400,
        errors: { error: [{ error_message: 'The payment was declined: Do Not Honor.', error_number: 2000 }] },
        status: 'Bad Request',
      },
    })
  })

  it.each([
    ['fake-down-nonce', 'the payment gateway cannot be reached; nothing was charged: repeat'],
    ['fake-timeout-before-nonce', 'the outcome of the payment is not known yet: repeat'],
  ])('ask to come again when the gateway fails (%s)', async (paymentGatewayNonce, message) => {
    const answer = await donate({}, { paymentGatewayNonce })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(answer.body).toContain(message)
  })

  it('are 404 and 410 for projects that do not take donations', async () => {
    await store.db.query(
      `insert into project (id, active, status, title, source) values (3001, false, 'retired', 'Closed', 'local')`,
    )
    expect((await donate({ project: { id: 999 } })).statusCode).toBe(404)
    expect((await donate({ project: { id: 3001 } })).statusCode).toBe(410)
    const beyond = await donate({ project: { id: '99999999999999999999' } })
    expect(beyond.statusCode).toBe(404)
    expect(beyond.body).toContain('there is no project with so large a number')
  })

  it('name every field that is wrong, and refuse a body without its root', async () => {
    const answer = await donate({ email: '', amount: 3, project: {} })
    expect(answer.statusCode).toBe(400)
    for (const field of ['donation.email', 'donation.amount', 'donation.project.id'])
      expect(answer.body).toContain(`{"error_message":"${field}: expected `)
    const bare = await post(v2, JSON.stringify(gift()), 'application/json')
    expect(bare.statusCode).toBe(400)
    expect((await post(v2, donationJson, 'application/json', '&is_test=maybe')).statusCode).toBe(400)
  })

  it('refuse card numbers, naming version 2, and keep them nowhere', async () => {
    const number = '5178059876540437'
    const before = await donations()
    const card = { creditCardNumber: number, securityCode: '987', expiryDateMonth: '02', expiryDateYear: '2030' }
    const body = JSON.stringify({ donation: gift({}, card) })
    const xml = donationXml.replace('<firstname>', `<creditCardNumber>${number}</creditCardNumber><firstname>`)
    const answers = [
      await post(v1, body, 'application/json'),
      await post(v1, body, 'application/json', '&is_test=true'),
      await post(v1, xml, 'application/xml'),
      await post(v1, xml, 'application/xml', '&is_test=true'),
      await post(v2, body, 'application/json'),
    ]
    for (const answer of answers) {
      expect(answer.statusCode).toBe(400)
      expect(answer.body).not.toContain(number)
    }
    for (const answer of answers.slice(0, 4)) expect(answer.body).toContain('donationsclient')
    expect(await donations()).toBe(before)
    expect(JSON.stringify(api.log)).not.toContain(number)
    expect(await everyRow(store.db)).not.toContain(number)
  })

  it('keep a card number nowhere that stands where none belongs', async () => {
    const number = '5178059876540437'
    const spaced = '5178 0598 7654 0437'
    const json = (changes: Record<string, unknown>, payment: Record<string, unknown> = {}, query = '') =>
      post(v2, JSON.stringify({ donation: gift(changes, payment) }), 'application/json', query)
    const before = await donations()
    const refused = [
      ['payment_detail.firstname', await json({}, { firstname: spaced })],
      ['payment_detail.phone', await json({}, { phone: Number(number) })],
      ['payment_detail.paymentGatewayNonce', await json({}, { paymentGatewayNonce: number })],
      ['transactionId', await json({ transactionId: number })],
      ['refcode', await json({ refcode: `card ${spaced}` })],
      ['email', await json({ email: `${number}@example.org` })],
      ['userAgent', await json({ userAgent: number })],
      ['noteToOrganization', await json({ noteToOrganization: '5178x0598x7654x0437' })],
      ['partnerCode', await json({ partnerCode: number })],
      ['creditCard', await json({ creditCard: number })],
      [
        'payment_detail.lastname',
        await post(v1, donationXml.replace('Okoro', spaced), 'application/xml', '&is_test=true'),
      ],
    ] as const
    for (const [field, answer] of refused) {
      expect(answer.statusCode, field).toBe(400)
      expect(answer.body, field).toContain(`donation.${field}: expected no card number: use version 2, donationsclient`)
      expect(answer.body).not.toMatch(/5178/)
    }
    expect(await donations()).toBe(before)
    const unknown = await json({ payment: { number: spaced } }, { [`card ${number}`]: 1 })
    expect(unknown.statusCode).toBe(400)
    expect(unknown.body).toContain('donation.payment.number: expected no card number')
    expect(unknown.body).not.toMatch(/5178/)
    const taken = [
      await json({}, {}, `&creditCardNumber=${number}&q=${number}&limit=${number}`),
      await json({}, {}, `&q=${encodeURIComponent(spaced)}`),
    ]
    for (const answer of taken) {
      expect(answer.statusCode).toBe(200)
      expect(answer.body).not.toMatch(/5178/)
    }
    expect((await post(`${v2}/${number}`, donationJson, 'application/json')).statusCode).toBe(404)
    expect((await json({ project: { id: number } })).body).not.toContain(number)
    expect(JSON.stringify(api.log)).not.toMatch(/5178[ +-]?0598|5178%200598/)
    expect(await everyRow(store.db)).not.toMatch(/5178[ -]?0598/)
  })

  it('take texts with characters that neither XML nor the database could hold', async () => {
    const request = { refcode: 'a\u0000b', email: 'signs@example.org' }
    const answer = await donate(request, { firstname: 'Li\ud800na\u0007', lastname: '漢字 😀 <&>' })
    expect(answer.json().donation).toMatchObject({ refcode: 'ab', checkedOut: true })
    const [found] = await findDonor(store.db, testDonors, request.email)
    expect(found?.details.lastname).toBe('漢字 😀 <&>')
  })

  it('keep nonces nowhere, and people encrypted in one table, which can be erased', async () => {
    const [email, lastname, nonce] = ['findme@example.org', 'Findmeson', 'fake-valid-findme-nonce']
    const request = { email, transactionId: 'tx-findme', noteToOrganization: 'ignored' }
    expect((await donate(request, { lastname, paymentGatewayNonce: nonce })).statusCode).toBe(200)
    expect(JSON.stringify(api.log)).not.toMatch(/findme@|Findmeson|findme-nonce/)
    const everywhere = await everyRow(store.db)
    expect(everywhere).toContain('tx-findme')
    expect(everywhere).not.toMatch(/findme@|Findmeson|findme-nonce/)
    const before = (await store.db.query('select funding, number_of_donations from project where id = 2046')).rows
    const email2 = 'FindMe@example.org'
    expect(await eraseDonor(store.db, { hashes: testDonors.lookupHashes(email2), email: email2 })).toBe(1)
    expect(await findDonor(store.db, testDonors, email)).toEqual([])
    expect((await store.db.query('select funding, number_of_donations from project where id = 2046')).rows).toEqual(
      before,
    )
  })

  it('keep a note and a partner code only for accounts that were granted them', async () => {
    const { rows } = await store.db.query<{ id: number }>('select id from account where email = $1', [testUser.email])
    const kept = async () => {
      const transactionId = `tx-${randomUUID()}`
      const email = `${transactionId.slice(3)}@a.example`
      const request = { transactionId, email, noteToOrganization: 'for the pump', partnerCode: 'P-7' }
      expect((await donate(request)).statusCode).toBe(200)
      const found = await store.db.query('select partner_code as code from donation where transaction_id = $1', [
        transactionId,
      ])
      const [donor] = await findDonor(store.db, testDonors, email)
      return { ...found.rows[0], note: donor?.details.noteToOrganization }
    }
    expect(await kept()).toEqual({ code: undefined, note: undefined })
    for (const grant of ['donation-notes', 'partner-codes'] as const) {
      await recordGrant(store.db, rows[0]?.id ?? 0, grant, api.now)
    }
    expect(await kept()).toEqual({ code: 'P-7', note: 'for the pump' })
    expect((await donate({ noteToOrganization: 'x'.repeat(256) })).body).toContain('donation.noteToOrganization')
  })

  it('that the database refuses name nobody in the log', async () => {
    await store.db.query(`alter table donor add constraint refused check (key_id <> 'test') not valid`)
    const answer = await donate({ email: 'findme2@example.org' }, { lastname: 'Findmetoo' })
    await store.db.query('alter table donor drop constraint refused')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toMatch(/findme/i)
    expect(JSON.stringify(api.log)).toContain('the database refused a donation with SQLSTATE 23514')
    expect(JSON.stringify(api.log)).not.toMatch(/findme2|Findmetoo/)
  })

  it('are answered with 503 where a sandbox would take them for a real publisher; tests go on', async () => {
    const closedBecause = async () => 'PAYMENT_GATEWAY is a sandbox'
    const closed = await testApi(store, { store, payments: { ...api.deps.payments, closedBecause } })
    const send = (query: string) =>
      closed.app.inject({
        ...{ method: 'POST', url: `${v2}?api_key=${api.apiKey}&api_token=${token}${query}` },
        ...{ payload: donationJson, headers: { 'content-type': 'application/json' } },
      })
    const before = await donations()
    const refused = await send('')
    expect(refused.statusCode).toBe(503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.body).toContain('no donations are taken at the moment')
    expect(refused.body).not.toMatch(/PAYMENT_GATEWAY|sandbox/)
    expect((await send('&is_test=true')).statusCode).toBe(200)
    expect(await donations()).toBe(before)
  })

  it('tell a client without the key of donors no name of a variable; the log does', async () => {
    const donors = new DonorVault([{ id: 'other', secret: Buffer.alloc(32, 9) }])
    const keyless = await testApi(store, { store, payments: { ...api.deps.payments, donors } })
    const transactionId = randomUUID()
    expect((await donate({ transactionId })).statusCode).toBe(200)
    const refused = await keyless.app.inject({
      ...{ method: 'POST', url: `${v2}?api_key=${api.apiKey}&api_token=${token}` },
      ...{ payload: JSON.stringify({ donation: gift({ transactionId }, {}) }) },
      headers: { 'content-type': 'application/json' },
    })
    expect(refused.statusCode).toBe(503)
    expect(refused.body).not.toMatch(/DONOR_KEYS|key/)
    expect(JSON.stringify(keyless.log)).toContain('is missing from DONOR_KEYS')
  })

  it.each([
    ['a byte after "Connection: close"', 'close', 'x'],
    ['bytes that are no HTTP on a kept connection', 'keep-alive', 'nonsense\r\n\r\n'],
    ['headers that are too large', 'keep-alive', `GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}`],
  ] as const)('say what became of the donation when %s follow it', async (_what, connection, after) => {
    const before = await donations()
    const answer = await donateRaw({ transactionId: randomUUID() }, connection, after)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"receiptNumber":"R[\s\S]*\}$/)
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(await donations()).toBe(before + 1)
  })
})
