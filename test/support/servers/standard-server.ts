import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { codeList, codeListNames } from '../../../src/iati/standard/index.js'

/** A schema of our own that refuses an activity without identifier; it stands for the official ones. */
const schema = (root: string, record: string, identifier: string) => `<?xml version="1.0"?>
<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" version="2.03">
  <xsd:include schemaLocation="iati-common.xsd"/>
  <xsd:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="xml.xsd"/>
  <xsd:element name="${root}"><xsd:complexType>
    <xsd:sequence><xsd:element name="${record}" minOccurs="0" maxOccurs="unbounded"><xsd:complexType>
      <xsd:sequence><xsd:element name="${identifier}"/><xsd:any minOccurs="0" maxOccurs="unbounded" processContents="skip"/></xsd:sequence>
      <xsd:anyAttribute processContents="lax"/>
    </xsd:complexType></xsd:element></xsd:sequence>
    <xsd:attribute name="version"/><xsd:attribute name="generated-datetime"/>
  </xsd:complexType></xsd:element>
</xsd:schema>
`

/** The files of a mirror by path: schemas of our own, and the code lists as built in. */
function standardFiles(): Map<string, string> {
  const files = new Map([
    ['/schemas/iati-activities-schema.xsd', schema('iati-activities', 'iati-activity', 'iati-identifier')],
    [
      '/schemas/iati-organisations-schema.xsd',
      schema('iati-organisations', 'iati-organisation', 'organisation-identifier'),
    ],
    ['/schemas/iati-common.xsd', '<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" version="2.03"/>'],
    [
      '/schemas/xml.xsd',
      '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/XML/1998/namespace"/>',
    ],
  ])
  for (const name of codeListNames) {
    const data = [...codeList(name).codes].map(([code, { active }]) => ({
      code,
      status: active ? 'active' : 'withdrawn',
    }))
    files.set(`/codelists/${name}.json`, JSON.stringify({ attributes: { name }, data }))
  }
  return files
}

/** A running mirror; `answers` replaces what it says at some paths. */
export type StandardServer = {
  readonly url: string
  readonly files: Map<string, string>
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  /** Paths in the order in which they were asked for. */
  readonly asked: string[]
  close(): Promise<void>
}

/** Starts a mirror of the official files on a free port of this machine. */
export async function startStandardServer(): Promise<StandardServer> {
  const files = standardFiles()
  const answers: StandardServer['answers'] = new Map()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers.get(path)
    const text = files.get(path)
    if (answer) answer(request, response)
    else if (text === undefined) response.writeHead(404).end('not here')
    else response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    files,
    answers,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
