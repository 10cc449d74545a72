import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { transpileModule } from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installation, newInstallation } from '../support/commands/cli.js'
import { freePort } from '../support/servers/free-port.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record } from './support/record.js'

// Programs of others for the API that this one is compatible with. Each is fetched into a temporary folder, or copied from
// PUBLIC_CLIENTS/REPOSITORY/FILE; only its address of the API and its key are changed. Nothing of theirs is kept.
type PublicClient = {
  readonly repository: string
  readonly commit: string
  /** As the repository states it; without one nothing is fetched. */
  readonly licence: string | undefined
  readonly calls: string
  readonly files: readonly string[]
  /** The program of the machine that it needs, and what proves that its libraries are there. */
  readonly needs: readonly string[]
  readonly run: (folder: string, at: Surroundings) => Promise<unknown>
  /** What it then says. */
  readonly says: (at: Surroundings) => object
}

/** What there is at the service that clients are run against: a key, a project, its organisation, and how many are active. */
type Surroundings = {
  readonly url: string
  readonly key: string
  readonly project: number
  readonly organisation: number
  readonly projects: number
  readonly organisations: number
}

const user = { email: 'reader@example.org', password: 'seven quiet rivers run' }
const java = 'src/main/java/org/kelcecil/globalgiving'
const php = '/usr/share/php/Symfony/Component'

const clients: readonly PublicClient[] = [
  {
    repository: 'marcmaxson/GlobalGiving',
    commit: '92d44625035e63e7ec886c50206bc49d2f60e010',
    licence: 'MIT',
    calls: 'projects by ids, projects of an organisation, reports as Atom, an organisation',
    files: ['gg_api.py'],
    needs: ['python3', '-c', 'import requests'],
    // Written for Python 2, whose urllib had these two.
    run: async (folder, { key, project, organisation }) =>
      JSON.parse(
        await output(folder, 'python3', [
          '-c',
          `import json, urllib, urllib.parse
urllib.urlencode, urllib.unquote = urllib.parse.urlencode, urllib.parse.unquote
from gg_api import gg
api = gg(${JSON.stringify(key)})
projects = api.project_info_from_ids([${project}]).json()["projects"]["project"]
of = api.project_info_from_org_id(${organisation}).json()["projects"]["project"]
assert "<feed" in api.atom_reports_from_project_id(${project}).text
organisation = api.get_org(${organisation}).json()["organization"]
assert "<organization" in api.get_org(${organisation}, use="xml").text
print(json.dumps({"project": projects[0]["id"], "organisation": organisation["id"], "listed": ${project} in [one["id"] for one in of]}))`,
        ]),
      ),
    says: ({ project, organisation }) => ({ project, organisation, listed: true }),
  },
  {
    repository: 'kelcecil/givingglobal-java',
    commit: 'c62e28466e6707f89dc149b85ffe7fab58f8f35b',
    licence: 'MIT',
    calls: 'themes, themes with the ids of their projects, all projects, an organisation',
    files: [
      ...['GetAllProjects', 'GetOrganization', 'GetThemes', 'GetThemesWithProjects'].map((one) => `action/${one}.java`),
      ...['apikey/ApiKeyProvider.java', 'apikey/EnvironmentApiKeyProvider.java', 'http/HttpClient.java'],
      ...['Country', 'Organization', 'Project', 'Theme'].map((one) => `model/${one}.java`),
      ...[
        'CountryWrapper',
        'OrganizationWrapper',
        'ProjectWrapper',
        'ProjectsWrapper',
        'ThemeWrapper',
        'ThemesWrapper',
      ].map((one) => `model/wrappers/${one}.java`),
      'GlobalGivingClient.java',
    ].map((file) => `${java}/${file}`),
    // Debian: libgoogle-http-client-java
    needs: ['sh', '-c', 'javac --version && test -e /usr/share/java/google-http-client-gson.jar'],
    run: async (folder, { key, organisation }) => {
      const main = `import org.kelcecil.globalgiving.*;
import org.kelcecil.globalgiving.action.GetAllProjects;
public class Main {
  public static void main(String[] args) {
    GlobalGivingClient client = new GlobalGivingClient();
    if (client.getThemes().get(0).getName().isEmpty()) throw new Error("a theme without a name");
    if (client.getThemesWithProjects().isEmpty()) throw new Error("no theme with projects");
    int projects = new GetAllProjects().Call().getProjects().getProject().size();
    System.out.println("{\\"organisation\\":" + client.getOrganization(${organisation}).getId() + ",\\"projects\\":" + projects + "}");
  }
}`
      await writeFile(path.join(folder, 'Main.java'), main)
      const sources = [`${java}/GlobalGivingClient.java`, `${java}/action/GetAllProjects.java`, 'Main.java']
      const libraries = ['-cp', `src/main/java:.:/usr/share/java/*`]
      await output(folder, 'javac', [...libraries, '-d', '.', ...sources])
      return JSON.parse(await output(folder, 'java', [...libraries, 'Main'], { GLOBALGIVING_APIKEY: key }))
    },
    says: ({ organisation }) => ({ organisation, projects: 10 }),
  },
  {
    repository: 'survos/survos',
    commit: '09f2cae68d53ea17e3262852ab3562c32a41ee9c',
    licence: 'MIT',
    calls: 'ids of all projects, featured projects, a project',
    files: ['packages/global-giving-bundle/src/Service/GlobalGivingService.php'],
    // Debian: php-cli, php-symfony-http-client, php-symfony-cache
    needs: ['php', '-r', `require '${php}/HttpClient/autoload.php'; require '${php}/Cache/autoload.php';`],
    run: async (folder, { key, project }) =>
      JSON.parse(
        await output(folder, 'php', [
          '-r',
          `require '${php}/HttpClient/autoload.php';
require '${php}/Cache/autoload.php';
require 'packages/global-giving-bundle/src/Service/GlobalGivingService.php';
$cache = new Symfony\\Component\\Cache\\Adapter\\ArrayAdapter();
$api = new Survos\\GlobalGivingBundle\\Service\\GlobalGivingService(Symfony\\Component\\HttpClient\\HttpClient::create(), $cache, '${key}');
if (count($api->getFeaturedProjects()['project']) === 0) exit(1);
$ids = array_column($api->getAllProjectsIds()['project'], 'id');
echo json_encode(['project' => $api->getProject(${project})['id'], 'listed' => in_array(${project}, $ids)]);`,
        ]),
      ),
    says: ({ project }) => ({ project, listed: true }),
  },
  {
    repository: 'mlmar/globalgiving',
    commit: '0c0dbd26b6aa7018a37e73493f224516172bd156',
    licence: 'ISC',
    calls: 'a token, active projects page by page',
    files: ['index.js', 'api/globalGivingApi.js', 'service/HTTPService.js'].map((one) => `globalgiving-express/${one}`),
    needs: ['npm', 'ping'],
    run: async (folder, { key }) => {
      const cwd = path.join(folder, 'globalgiving-express')
      await output(cwd, 'npm', [
        'install',
        '--no-audit',
        '--no-fund',
        'express@4',
        'cors@2',
        'dotenv@10',
        'node-fetch@2',
      ])
      const port = await freePort()
      const env = { PORT: `${port}`, API_KEY: key, API_EMAIL: user.email, API_PASSWORD: user.password }
      const { PATH } = process.env
      const server = spawn(process.execPath, ['index.js'], {
        cwd,
        env: { PATH, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        await new Promise((resolve) => server.stdout.once('data', resolve))
        const ask = async (query: string) => await (await fetch(`http://127.0.0.1:${port}/api/${query}`)).json()
        const { status } = (await ask('authenticate')) as { status: number }
        let [page, projects] = ['', 0]
        do {
          const { data } = (await ask(`projects?nextProjectId=${page}`)) as { data: ProjectList }
          projects += data.project.length
          page = data.hasNext ? `${data.nextProjectId}` : ''
        } while (page !== '')
        return { status, projects }
      } finally {
        server.kill()
      }
    },
    says: ({ projects }) => ({ status: 0, projects }),
  },
  {
    repository: 'Ahnaf-dev/charity-finder-app',
    commit: '9cf8d280e7a75d37324378f350005c033ff34a79',
    licence: 'ISC',
    calls: 'active organisations page by page, from a page of another origin',
    files: ['src/api/apiConfig.ts'],
    needs: ['npm', 'ping'],
    run: async (folder) => {
      await output(folder, 'npm', ['install', '--no-audit', '--no-fund', 'jquery@3', 'jsdom@26'])
      const source = await readFile(path.join(folder, 'src/api/apiConfig.ts'), 'utf8')
      await writeFile(
        path.join(folder, 'api.mjs'),
        transpileModule(source, { compilerOptions: { module: 99 } }).outputText,
      )
      const program = `import jquery from 'jquery'
import { JSDOM } from 'jsdom'
globalThis.$ = jquery(new JSDOM('', { url: 'http://charities.example/' }).window)
const { default: api } = await import('./api.mjs')
let [organisations, next] = [0, undefined]
do {
  const found = (await api.fetchOrgsByAjax(next)).organizations
  organisations += found.organization.length
  next = found.hasNext ? found.nextOrgId : undefined
} while (next)
console.log(JSON.stringify({ organisations }))`
      await writeFile(path.join(folder, 'main.mjs'), program)
      return JSON.parse(await output(folder, process.execPath, ['main.mjs']))
    },
    says: ({ organisations }) => ({ organisations }),
  },
  {
    repository: 'tplassman/globalgiving',
    commit: '2bac46728104115b122687e3f87def54d205c26f',
    licence: undefined,
    calls: 'search with a theme, themes (Go)',
    files: ['pkg/globalgiving/client.go', 'pkg/globalgiving/projects.go', 'pkg/globalgiving/themes.go'],
    needs: [],
    run: async () => undefined,
    says: () => ({}),
  },
]

type Lists = { readonly projects: ProjectList; readonly organizations: { readonly organization: readonly object[] } }
type ProjectList = {
  readonly project: readonly { readonly id: number; readonly organization: { readonly id: number } }[]
  readonly numberFound: number
  readonly hasNext?: boolean
  readonly nextProjectId?: number
}

describe('public clients', () => {
  let installation: Installation
  let at: Surroundings
  beforeAll(async () => {
    installation = await newInstallation()
    const { baseUrl: url } = await installation.start()
    const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
    const { stdout } = await installation.run(create, `${user.password}\n`)
    const { apiKey: key } = JSON.parse(stdout) as { apiKey: string }
    const ask = async (list: string) => {
      const headers = { accept: 'application/json', 'x-api-key': key }
      return (await (await fetch(`${url}/api/public/${list}`, { headers })).json()) as Lists
    }
    const { projects } = await ask('projectservice/all/projects/active')
    const { organizations } = await ask('orgservice/all/organizations/active?limit=100')
    const [first] = projects.project
    if (!first) throw new Error('the sample has no active project')
    const counts = { projects: projects.numberFound, organisations: organizations.organization.length }
    at = { url, key, project: first.id, organisation: first.organization.id, ...counts }
  })
  afterAll(async () => await installation.remove())

  it.for(clients)('$repository', { timeout: 600_000 }, async (client, { skip }) => {
    const folder = await temporaryFolder()
    const missing = await whyMissing(client, folder, at)
    if (!missing) expect(await client.run(folder, at)).toEqual(client.says(at))
    const name = `public client ${client.repository} (${client.licence ?? 'no licence'}): ${client.calls}`
    record({ name, engine: '-', tried: missing ? 0 : 1, outcome: missing ?? 'works' })
    if (missing) skip(missing)
  })
})

/** Puts the client's files into the folder, with the service's address and key in them; why it cannot be run, if it cannot. */
async function whyMissing(
  client: PublicClient,
  folder: string,
  { url, key }: Surroundings,
): Promise<string | undefined> {
  if (!client.licence) return 'not fetched: it has no licence'
  const [program = '', ...args] = client.needs
  if (spawnSync(program, args).status !== 0) return `not run: ${client.needs.join(' ')} fails`
  for (const file of client.files) {
    const kept = process.env.PUBLIC_CLIENTS
    const address = `https://raw.githubusercontent.com/${client.repository}/${client.commit}/${file}`
    const text = await (kept ? readFile(path.join(kept, client.repository, file), 'utf8') : fetched(address)).catch(
      (error: Error) => error,
    )
    if (text instanceof Error) return `not fetched: ${file}: ${text.message}`
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(
      path.join(folder, file),
      text.replaceAll('https://api.globalgiving.org', url).replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, key),
    )
  }
  return undefined
}

async function fetched(address: string): Promise<string> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
  return await answer.text()
}

async function output(cwd: string, program: string, args: readonly string[], env: Record<string, string> = {}) {
  const { stdout } = await promisify(execFile)(program, [...args], { cwd, env: { ...process.env, ...env } })
  return stdout
}
