import { projectGraphs } from '../../src/catalogue/sql/project-graphs.js'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import type { ProjectGraph } from '../../src/kernel/project.js'
import type { Element } from '../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../src/kernel/xml/reader.js'
import { writeElement } from '../../src/kernel/xml/writer.js'
import type { Bench, BenchResult, BenchSetting } from '../suite/bench.js'
import { type Contender, contest, type Measured, rate, speedRatio } from '../suite/contest.js'
import { mappingConfig, seededDay } from '../suite/settings.js'
import { fastXmlParser, type Peer, xmlbuilder2 } from './peers.js'

/** Typed rows in memory to the text of an activity, by our writer and by the builders that one would use instead. */
export const bench: Bench = {
  name: 'mapping',
  about: "typed rows in memory to text, beside the same mapping through fast-xml-parser's builder and xmlbuilder2",
  byDefault: true,
  run,
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 300 : 1_000)
  await using database = await workshop.seeded({ projects, size: 'small' })
  const ids = Array.from({ length: projects }, (_, index) => index + 1)
  const graphs = await database.store.snapshot((db) => projectGraphs(db, ids))
  const elements = graphs.map(map)
  refuseDifferent(elements, [fastXmlParser.name, throughPeer(fastXmlParser)])
  refuseDifferent(elements, [xmlbuilder2.name, throughPeer(xmlbuilder2)])

  const writing: Record<string, number[]> = {}
  const contenders = [
    contender('ours', graphs, writing, { toTree: (element) => element, write: writeElement }),
    contender(fastXmlParser.name, graphs, writing, fastXmlParser),
    contender(xmlbuilder2.name, graphs, writing, xmlbuilder2),
  ]
  const warmUp = 2
  const measured = await contest(contenders, { rounds: quick ? 5 : 9, warmUp, progress })
  const [ours] = measured
  const writingOf = (one: Measured | undefined): Measured => {
    const name = one?.name ?? ''
    return { name, seconds: (writing[name] ?? []).slice(warmUp) }
  }
  const bytes = elements.reduce((sum, element) => sum + Buffer.byteLength(writeElement(element)), 0) / projects
  const transactions = graphs.reduce((sum, { months, disbursements }) => sum + months.length + disbursements.length, 0)
  return {
    tables: [
      {
        title:
          `${projects} activities of ${(bytes / 1000).toFixed(1)} KB with ${(transactions / projects).toFixed(1)} rows of ` +
          'money; activities a second, median (spread)',
        columns: ['', 'mapping and writing', 'ours is faster by', 'writing alone', 'ours is faster by'],
        rows: measured.map((one) => [
          one.name,
          rate(projects, one.seconds),
          one === ours ? '' : speedRatio(ours, one).toFixed(1),
          rate(projects, writingOf(one).seconds),
          one === ours ? '' : speedRatio(writingOf(ours), writingOf(one)).toFixed(1),
        ]),
      },
    ],
    bars: [],
    notes: [
      'Limits, no bars: 5 and 10 times as fast. The builders are given what our mapping made, so its time, about half of ours, is in ' +
        'all three.',
      'All three write what our mapping made; the trees that the builders need are made outside the measured time, ' +
        'as a mapping of their own would make them at once. Their documents are the same when read back.',
    ],
  }
}

const batchSize = 100

/** Works in batches, as rendering does: trees live as long as a batch. */
function contender<Tree>(
  name: string,
  graphs: readonly ProjectGraph[],
  writing: Record<string, number[]>,
  { toTree, write }: Omit<Peer<Tree>, 'name'>,
): Contender {
  return {
    name,
    run: async () => {
      let [mappingMs, writingMs, length] = [0, 0, 0]
      for (let at = 0; at < graphs.length; at += batchSize) {
        const began = performance.now()
        const elements = graphs.slice(at, at + batchSize).map(map)
        mappingMs += performance.now() - began
        const trees = elements.map(toTree)
        const writingSince = performance.now()
        for (const tree of trees) length += write(tree).length
        writingMs += performance.now() - writingSince
      }
      if (length === 0) throw new Error('nothing was written')
      writing[name] = [...(writing[name] ?? []), writingMs / 1000]
      return (mappingMs + writingMs) / 1000
    },
  }
}

function map(graph: ProjectGraph): Element {
  return toActivity(graph, mappingConfig, seededDay, newIdentifier(mappingConfig, graph.project)).element
}

function throughPeer<Tree>({ toTree, write }: Peer<Tree>): (element: Element) => string {
  return (element) => write(toTree(element))
}

/** Throws when a peer's document, read back, differs from ours. */
function refuseDifferent(elements: readonly Element[], [name, write]: readonly [string, (element: Element) => string]) {
  for (const element of elements) {
    const [ours, theirs] = [canonical(writeElement(element)), canonical(write(element))]
    if (ours !== theirs) throw new Error(`${name} writes another document:\n${theirs}\ninstead of\n${ours}`)
  }
}

/** A document as text in one form: order of attributes and escapes, which XML leaves open, are the same. */
function canonical(text: string): string {
  const write = ({ name, attributes, children, text }: Element): unknown[] => [
    name,
    Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)),
    text,
    children.map(write),
  ]
  return JSON.stringify(write(parseElement(text, recordLimits)))
}
