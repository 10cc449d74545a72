import { randomFrom } from '../values/random.js'

/** A file as an office's program writes it, and what a person says of the guess. */
type OfficeFile = {
  readonly name: string
  readonly kind: string
  readonly content: Buffer
  /** The recipe with what only a person can say. */
  answers(guessed: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
}

/** What an office exports, and what must be in the books afterwards, counted without the program. */
export type OfficeExport = {
  readonly files: readonly OfficeFile[]
  /** Amounts by project, month and kind. */
  readonly months: Readonly<Record<string, string>>
  /** What the file of gifts adds up to, by currency; rows without a day are in no sum. */
  readonly fileSums: Readonly<Record<string, string>>
  readonly counts: { readonly projects: number; readonly organisations: number; readonly reports: number }
  readonly firstReport: string
}

type Dialect = {
  readonly language: 'en' | 'de' | 'fr' | 'es' | 'pt'
  readonly delimiter: ',' | ';' | '\t'
  readonly comma: boolean
  readonly encoding: 'utf8' | 'utf8 with mark' | 'latin1' | 'utf16le'
  readonly days: 'iso' | 'dd.mm.yyyy' | 'd/m/yyyy' | 'excel' | 'dd-mmm-yyyy' | 'instant'
  readonly lineEnd: '\n' | '\r\n'
}

const words = {
  en: {
    project: ['Project ID', 'Title', 'Status', 'Partner', 'Country', 'Goal', 'Link'],
    gift: ['Donation ID', 'Project ID', 'Amount', 'Currency', 'Date', 'Email', 'Status'],
    partner: ['External ID', 'Organization Name', 'Country', 'Website'],
    report: ['Record ID', 'Project', 'Title', 'Text', 'Date', 'Photos', 'Author', 'URL'],
    statuses: ['ongoing', 'Fully funded', 'Completed'],
    paid: ['Completed', 'Failed', 'Pending'],
    total: 'Total',
  },
  de: {
    project: ['Projekt-ID', 'Titel', 'Status', 'Partner', 'Land', 'Ziel', 'Link'],
    gift: ['Spenden-Nr.', 'Projekt-ID', 'Betrag', 'Währung', 'Datum', 'E-Mail', 'Status'],
    partner: ['Externe ID', 'Organisationsname', 'Land', 'Webseite'],
    report: ['Nr', 'Projekt', 'Titel', 'Text', 'Datum', 'Fotos', 'Autor/in', 'URL'],
    statuses: ['laufend', 'finanziert', 'abgeschlossen'],
    paid: ['Abgeschlossen', 'Fehlgeschlagen', 'Ausstehend'],
    total: 'Gesamt',
  },
  fr: {
    project: ['ID projet', 'Titre', 'Statut', 'Partenaire', 'Pays', 'Objectif', 'Lien'],
    gift: ['Numéro de don', 'ID projet', 'Montant', 'Devise', 'Date du don', 'Courriel', 'Statut'],
    partner: ['Identifiant externe', 'Nom', 'Pays', 'Site web'],
    report: ['Numéro', 'Projet', 'Titre', 'Texte', 'Date de publication', 'Photos', 'Auteur', 'URL'],
    statuses: ['en cours', 'financé', 'terminé'],
    paid: ['Payé', 'Échoué', 'En attente'],
    total: 'Total général',
  },
  es: {
    project: ['ID del proyecto', 'Título', 'Estado', 'Socio', 'País', 'Meta', 'Enlace'],
    gift: ['Número de donación', 'ID del proyecto', 'Importe', 'Moneda', 'Fecha', 'Correo electrónico', 'Estado'],
    partner: ['Identificador externo', 'Nombre', 'País', 'Sitio web'],
    report: ['Número', 'Proyecto', 'Título', 'Texto', 'Fecha de publicación', 'Fotos', 'Autor', 'URL'],
    statuses: ['en curso', 'financiado', 'finalizado'],
    paid: ['Pagado', 'Fallido', 'Pendiente'],
    total: 'Suma',
  },
  pt: {
    project: ['ID do projeto', 'Título', 'Situação', 'Parceiro', 'País', 'Meta', 'Página'],
    gift: ['Número da doação', 'ID do projeto', 'Valor', 'Moeda', 'Data da doação', 'Telefone', 'Situação'],
    partner: ['Identificador externo', 'Nome da organização', 'País', 'Site'],
    report: ['Número', 'Projeto', 'Título', 'Texto', 'Data de publicação', 'Fotos', 'Autor', 'URL'],
    statuses: ['em andamento', 'financiado', 'concluído'],
    paid: ['Pago', 'Cancelado', 'Pendente'],
    total: 'Soma',
  },
} as const

const languages = Object.keys(words) as (keyof typeof words)[]
const encodings = ['utf8', 'utf8 with mark', 'latin1', 'utf16le'] as const
const dayForms = ['iso', 'dd.mm.yyyy', 'd/m/yyyy', 'excel', 'dd-mmm-yyyy', 'instant'] as const
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** An office's exports of one seed: another language, separator, notation, encoding and damage with each. */
export function officeExport(seed: number): OfficeExport {
  const random = randomFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const dialect: Dialect = {
    language: languages[seed % languages.length] ?? 'en',
    delimiter: pick([',', ';', '\t'] as const),
    comma: random() < 0.5,
    encoding: encodings[seed % encodings.length] ?? 'utf8',
    days: dayForms[seed % dayForms.length] ?? 'iso',
    lineEnd: pick(['\n', '\r\n'] as const),
  }
  const names = words[dialect.language]
  const id = () =>
    'xxxxxxxx-xxxx-4xxx'
      .replace(/x/g, () => Math.floor(random() * 16).toString(16))
      .replace(/^\d+/, (d) => `a${d.slice(1)}`)
  const partners = Array.from({ length: 8 }, () => id())
  const projects = Array.from({ length: 20 }, () => id())
  const table = (rows: readonly (readonly string[])[], above: readonly string[] = []) =>
    encoded([...above, ...rows.map((row) => row.map((cell) => quoted(cell, dialect)).join(dialect.delimiter))], dialect)

  const partnerRows = partners.map((one, index) => [
    one,
    `Stiftung „Brunnen“ ${index}`,
    pick(['SL', 'KE', 'PE']),
    `https://p${index}.example`,
  ])
  const projectRows = projects.map((one, index) => [
    ...[one, `Puits n° ${index}, école`, pick(names.statuses), pick(partners), pick(['SN', 'UG', 'NP'])],
    ...[amount(random() < 0.1 ? 25_000_000 : 100_000 + index * 1000, dialect), `https://office.example/p/${index}`],
  ])
  // A total in the end, and columns that somebody once had.
  const projectTable = [
    [...names.project, '', ''],
    ...projectRows.map((row) => [...row, '', '']),
    [names.total, ...names.project.slice(1).map(() => ''), '', ''],
  ]

  const months = new Map<string, number>()
  const fileSums = new Map<string, number>()
  const isMerged = seed % 2 === 0
  const gifts: string[][] = []
  let number = 0
  for (const project of projects) {
    const count = 3 + Math.floor(random() * 20)
    for (let index = 0; index < count; index++) {
      number++
      const isRefund = random() < 0.1
      const cents = (isRefund ? -1 : 1) * pick([500, 9999, 123_450, 100_000_000, 2500])
      const year = 2021 + Math.floor(random() * 5)
      const month = 1 + Math.floor(random() * 12)
      // A day after the twelfth tells day and month apart.
      const day = index === 0 && number === 1 ? 28 : 1 + Math.floor(random() * 28)
      const [paid, ...others] = names.paid
      const status = random() < 0.85 || number <= 2 ? paid : pick(others)
      const row = [
        ...[`G-${number}`, isMerged && index > 0 ? '' : project, amount(cents, dialect, random, isRefund), 'EUR'],
        ...[dayText(year, month, day, dialect), `d${number}@example.org`, status],
      ]
      gifts.push(row)
      fileSums.set('EUR', (fileSums.get('EUR') ?? 0) + cents)
      // The same row once more, as an export that was put together twice.
      const isTwice = random() < 0.02
      if (isTwice) {
        gifts.push([row[0] ?? '', isMerged ? '' : project, ...row.slice(2)])
        fileSums.set('EUR', (fileSums.get('EUR') ?? 0) + cents)
      }
      if (status !== paid) continue
      const key = `${project} ${year}-${String(month).padStart(2, '0')} ${isRefund ? 'refund' : 'gift'}`
      months.set(key, (months.get(key) ?? 0) + cents)
    }
    // Bookkeepers put a total below each project.
    if (random() < 0.3) gifts.push([names.total, '', amount(123_456, dialect), '', '', '', ''])
  }
  // One of each status is there, so that a filter can be seen.
  const above = [
    ...(dialect.delimiter === ';' && seed % 3 === 0 ? ['sep=;'] : []),
    ...(seed % 3 === 1 ? ['#-----', '#Report run: 2026-11-01', ''] : []),
  ]
  const reportRows = projects
    .slice(0, 5)
    .map((project, index) => [
      ...[`rec${index}a`, project, `Bericht ${index}`, 'Der Bau geht voran.\n\nDie Pumpe läuft <seit> Montag.'],
      dayText(2024, 9, 13 + index, dialect),
      `a${index}.jpg (https://dl.example/a/${index}.jpg),b.jpg (https://dl.example/b/${index}.jpg)`,
      ...['Ana', `https://office.example/r/${index}`],
    ])
  const asGuessed = (recipe: Readonly<Record<string, unknown>>) => recipe
  const files: OfficeFile[] = [
    {
      name: 'partners.csv',
      kind: 'organizations',
      content: table([names.partner, ...partnerRows]),
      answers: asGuessed,
    },
    { name: 'projects.csv', kind: 'projects', content: table(projectTable), answers: asGuessed },
    { name: 'donations.csv', kind: 'gifts', content: table([names.gift, ...gifts], above), answers: asGuessed },
    { name: 'reports.csv', kind: 'reports', content: table([names.report, ...reportRows]), answers: asGuessed },
  ]
  const decimals = (sums: ReadonlyMap<string, number>) =>
    Object.fromEntries(
      [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, cents]) => [key, (cents / 100).toFixed(2)]),
    )
  return {
    files,
    months: decimals(months),
    fileSums: decimals(fileSums),
    counts: { projects: projects.length, organisations: partners.length, reports: reportRows.length },
    firstReport: '<p>Der Bau geht voran.</p><p>Die Pumpe läuft &lt;seit&gt; Montag.</p>',
  }
}

function quoted(cell: string, { delimiter }: Dialect): string {
  return cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

function encoded(lines: readonly string[], { encoding, lineEnd }: Dialect): Buffer {
  const text = `${lines.join(lineEnd)}${lineEnd}`
  if (encoding === 'utf16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf8 with mark') return Buffer.from(`\uFEFF${text}`)
  // Of Windows-1252 the letters here are those of Latin-1, but for quotation marks.
  return encoding === 'latin1' ? Buffer.from(text.replace(/[„“]/g, '"'), 'latin1') : Buffer.from(text)
}

/** Money as its writer has it: with thousands parted or not, a code or sign beside it, the minus of a bookkeeper. */
function amount(cents: number, { comma }: Dialect, random: () => number = () => 0.9, isRefund = false): string {
  const [whole = '', fraction = ''] = (Math.abs(cents) / 100).toFixed(2).split('.')
  const parted = random() < 0.5 || whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, comma ? '.' : ',') : whole
  const plain = `${parted}${comma ? ',' : '.'}${fraction}`
  const marked = random() < 0.1 ? `EUR ${plain}` : random() < 0.1 ? `${plain} €`.replace('€', 'EUR') : plain
  if (!isRefund) return marked
  const form = random()
  return form < 0.3 ? `(${plain})` : form < 0.6 ? `${plain}-` : `-${plain}`
}

function dayText(year: number, month: number, day: number, { days, language }: Dialect): string {
  const [y, m, d] = [String(year), String(month).padStart(2, '0'), String(day).padStart(2, '0')]
  if (days === 'iso') return `${y}-${m}-${d}`
  if (days === 'instant') return `${y}-${m}-${d} 12:05`
  if (days === 'dd.mm.yyyy') return `${d}.${m}.${y}`
  if (days === 'd/m/yyyy') return `${day}/${month}/${y}`
  if (days === 'dd-mmm-yyyy') return language === 'en' ? `${d}-${monthNames[month - 1]}-${y}` : `${d}-${m}-${y}`
  return String(Math.round(Date.UTC(year, month - 1, day) / 86_400_000) + 25_569)
}
