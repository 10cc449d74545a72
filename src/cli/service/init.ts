import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Command } from 'commander'
import { type AssumptionName, assumptions, isMade, newestEdition } from '../../iati/mapping/assumptions.js'
import { hasActiveAgency } from '../../iati/standard/standard.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { lookupTable } from '../../kernel/lookup-table.js'
import { isErrno } from '../../kernel/system-errors.js'
import type { Environment } from '../../platform/config/config.js'
import { type Variable, type VariableName, variables } from '../../platform/config/variables.js'
import { addCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { describeDiagnosis, diagnose, exitCodeOf } from './doctor.js'

type Question = {
  readonly variable: VariableName
  /** No option gives a secret: every user of the machine can read arguments. */
  readonly flag?: string
  readonly ask: string
  /** It is published. */
  readonly isFact?: true
  /** Given as an option it has no value: yes. */
  readonly isSwitch?: true
  /** What is said before it is asked; where that is nothing, it is not asked. */
  readonly about?: (answers: ReadonlyMap<VariableName, string>) => readonly string[]
  /** Why a value that the variable may have is refused all the same. */
  readonly refuse?: (value: string) => string | undefined
  /** The variables that this answer makes necessary; a person fills them in. */
  readonly needs?: (value: string) => readonly VariableName[]
}

const processors = lookupTable<readonly VariableName[]>({
  braintree: [
    ...(['BRAINTREE_MERCHANT_ID', 'BRAINTREE_PUBLIC_KEY', 'BRAINTREE_PRIVATE_KEY'] as const),
    'BRAINTREE_MERCHANT_ACCOUNTS',
  ],
  stripe: ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'],
})

const questions: readonly Question[] = [
  { variable: 'REPORTING_ORG_NAME', flag: 'name', ask: 'Who publishes? Name of the organisation' },
  {
    ...{ variable: 'REPORTING_ORG_REF', flag: 'ref', ask: 'Its IATI identifier; empty: a trial with demo data' },
    refuse: (ref) =>
      isDemoPublisher(ref) || hasActiveAgency(ref)
        ? undefined
        : 'an identifier that begins with a registration agency of org-id.guide, such as GB-CHC-1164883',
  },
  {
    ...{ variable: 'REPORTING_ORG_TYPE', flag: 'publisher-type', isFact: true },
    ask: 'Its type (IATI OrganisationType: 21 international NGO, 22 national NGO, 60 foundation, ...)',
  },
  { variable: 'DEFAULT_CURRENCY', flag: 'currency', ask: 'Its currency', isFact: true },
  { variable: 'DEFAULT_LANGUAGE', flag: 'language', ask: 'Language of its texts (ISO 639-1)', isFact: true },
  { variable: 'BASE_URL', flag: 'base-url', ask: 'Public address of the service; empty: this machine only' },
  {
    variable: 'UPSTREAM_URL',
    flag: 'from-upstream',
    ask: 'Platform to mirror; empty: data come by giving import',
    needs: () => ['UPSTREAM_API_KEY'],
  },
  {
    ...{ variable: 'UPSTREAM_API_KEY', ask: 'Your API key there (it is not shown); empty: you add it later' },
    about: (answers) => (answers.get('UPSTREAM_URL') ? [''] : []),
  },
  {
    ...{ variable: 'PAYMENT_GATEWAY', flag: 'gateway', ask: 'Who charges donors: sandbox, braintree or stripe' },
    needs: (gateway) => processors[gateway] ?? [],
  },
  {
    ...{ variable: 'MAIL_FROM', flag: 'mail-from', ask: 'Sender of receipts and codes; empty: no mail' },
    needs: () => ['SMTP_URL'],
  },
  { variable: 'PUBLISH_SCHEDULE', flag: 'schedule', ask: 'When to publish (cron, UTC)' },
  {
    ...{ variable: 'FACTS_CONFIRMED', flag: 'confirm-facts', isSwitch: true },
    ask: 'May activities say this where no record says otherwise? yes; empty: giving facts --confirm will ask',
    about: statements,
  },
]

/** What activities will say although nobody states it, as far as the answers leave it open; nothing for a trial. */
function statements(answers: ReadonlyMap<VariableName, string>): readonly string[] {
  if (isDemoPublisher(answers.get('REPORTING_ORG_REF') || undefined)) return []
  return (Object.keys(assumptions) as AssumptionName[]).flatMap((name) => {
    const { element, reason, change } = assumptions[name]
    const isOpen = isMade(name, newestEdition) && !answers.get(change as VariableName)
    return isOpen ? [`  ${element}: ${reason} To change it: ${change}`] : []
  })
}

/** `giving init`. */
export function registerInit(program: Command, commandLine: CommandLine): void {
  const command = addCommand(
    program,
    'init',
    'write a configuration: ask at the terminal for what no option gives, then examine it like giving doctor; exit code 1 when something must be added or fixed',
  )
    .option('--demo', 'configure a trial with demo data, and ask nothing')
    .option('--file <file>', 'where to write; every command reads .env of the folder it is started in', '.env')
  for (const { flag, variable, isSwitch } of questions)
    if (flag !== undefined) command.option(isSwitch ? `--${flag}` : `--${flag} <value>`, variable)
  command.action(commandLine.action((output, options: Options) => init(commandLine, output, options)))
}

type Options = { readonly demo?: boolean; readonly file: string } & Readonly<Record<string, string | boolean>>

async function init(commandLine: CommandLine, output: Output, { demo = false, file, ...flags }: Options) {
  await using target = await createFile(file)
  const given = questions.flatMap((question): [Question, string][] => {
    const raw = flags[question.flag?.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? '']
    if (question.isSwitch) return raw === true ? [[question, 'yes']] : []
    if (typeof raw !== 'string') return []
    const wrong = problemOf(question, raw)
    if (wrong !== undefined) throw new ServiceError('configuration-invalid', `--${question.flag}: ${wrong}`)
    return [[question, raw]]
  })
  const answers = new Map(given)
  const isGiven = ({ flag, variable }: Question) => flag === undefined && variable in commandLine.environment
  const open = demo ? [] : questions.filter((question) => !answers.has(question) && !isGiven(question))
  for (const [question, answer] of await askAll(commandLine, open, answers)) answers.set(question, answer)
  const { text, values, missing } = environmentOf(answers, commandLine.environment)
  await target.write(text)
  // What the environment says goes before the file, as for every command.
  const environment = { ...values, ...commandLine.environment }
  const found = await diagnose(commandLine.within(environment))
  // The start, which comes next, brings the schema up to date and makes the public address answer.
  const diagnoses = found.filter(({ about, state, next }) => next !== 'giving migrate' && !isUnanswered(about, state))
  const next = missing.length > 0 ? `put ${missing.join(', ')} into ${file}, then giving doctor` : nextOf(environment)
  return output.result(
    { file, missing, diagnoses, next },
    () => [`wrote ${file}, which only you can read`, ...diagnoses.map(describeDiagnosis), `next: ${next}`],
    { code: missing.length > 0 ? 1 : exitCodeOf(diagnoses) },
  )
}

/** What a person does next: a trial has data of its own, a mirror fetches them. */
function nextOf({ REPORTING_ORG_REF: ref, UPSTREAM_URL: upstream }: Environment): string {
  if (isDemoPublisher(ref || undefined) || upstream) return 'giving start'
  return 'giving import with your files, which giving try shows first; then giving start'
}

const isUnanswered = (about: string, state: string) => about === 'public address' && state !== 'good'

/** A new file, closed to others, which is removed when nothing was written to it. */
async function createFile(file: string) {
  const target = path.resolve(file)
  await mkdir(path.dirname(target), { recursive: true })
  const handle = await open(target, 'wx', 0o600).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error
    throw new ServiceError('configuration-invalid', `${file} is there already: change it, or move it away`)
  })
  let isWritten = false
  return {
    write: async (text: string) => {
      await handle.writeFile(text)
      isWritten = true
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close()
      if (!isWritten) await rm(target)
    },
  }
}

/** What is wrong with an answer; undefined for one that can be used. */
function problemOf({ variable, refuse }: Question, raw: string): string | undefined {
  if (raw === '') return undefined
  const { expected, parse }: Variable = variables[variable]
  const wanted = parse(raw) === undefined ? (typeof expected === 'string' ? expected : expected(raw)) : refuse?.(raw)
  if (wanted === undefined)
    return quoted(raw) === undefined ? 'expected a text without both kinds of quotes' : undefined
  return `expected ${wanted}, got ${JSON.stringify(raw)}`
}

/** The answers of a person at a terminal; none where there is no terminal. */
async function askAll(
  commandLine: CommandLine,
  open: readonly Question[],
  given: ReadonlyMap<Question, string>,
): Promise<readonly (readonly [Question, string])[]> {
  if (open.length === 0) return []
  await using terminal = await commandLine.openTerminal()
  if (!terminal) return []
  const answers: (readonly [Question, string])[] = []
  for (const [index, question] of open.entries()) {
    const fallback = (variables[question.variable] as Variable).fallback
    const prompt = `${index + 1}/${open.length} ${question.ask}${fallback === undefined ? '' : ` [${fallback}]`}: `
    const known = new Map([...given, ...answers].map(([{ variable }, answer]) => [variable, answer]))
    const about = question.about?.(known)
    if (about?.length === 0) continue
    for (const line of about ?? []) if (line !== '') terminal.say(line)
    for (;;) {
      const answer = (await terminal.ask(prompt, question.flag === undefined)).trim()
      const wrong = problemOf(question, answer)
      if (wrong !== undefined) {
        terminal.say(wrong)
        continue
      }
      // Who accepts the default of a published fact has stated it.
      answers.push([question, answer || (question.isFact && fallback) || ''])
      break
    }
  }
  return answers
}

/** The text of the file, the values in it, and the variables that a person has to put in. */
function environmentOf(answers: ReadonlyMap<Question, string>, environment: Environment) {
  const lines = ['# Written by giving init. What the environment has goes before it (docs/reference/configuration.md).']
  const values: Record<string, string> = {}
  const missing: VariableName[] = []
  const add = (name: VariableName, value: string | undefined) => {
    lines.push('', `# ${variables[name].meaning}`, value ? `${name}=${quoted(value)}` : `# ${name}=`)
    if (value) values[name] = value
  }
  const secrets = new Map([...answers].map(([{ variable, flag }, answer]) => [flag === undefined && variable, answer]))
  for (const question of questions) {
    if (question.flag === undefined) continue
    const value = answers.get(question)
    add(question.variable, value)
    for (const name of value ? (question.needs?.(value) ?? []) : []) {
      add(name, secrets.get(name))
      if (!secrets.get(name) && !environment[name]) missing.push(name)
    }
  }
  if (!isDemoPublisher(values.REPORTING_ORG_REF)) {
    lines.push(
      '',
      '# Keep a copy in another place than the backup: without it nobody can read what is known of donors.',
    )
    add('DONOR_KEYS', `1:${randomBytes(32).toString('base64')}`)
  }
  return { text: `${lines.join('\n')}\n`, values, missing }
}

/** The value as Node.js, docker compose and shells read it; undefined where they differ. */
function quoted(value: string): string | undefined {
  if (/^[\w.:/@+=,-]+$/.test(value)) return value
  if (!value.includes("'")) return `'${value}'`
  return /["$\\`]/.test(value) ? undefined : `"${value}"`
}
