import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { readProjectFile } from './markdown-table.js'

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template?: { readonly metadata: object; readonly spec: PodSpec } } & Readonly<
    Record<string, unknown>
  >
}

type PodSpec = {
  readonly securityContext: object
  readonly containers: readonly {
    readonly name: string
    readonly args: readonly string[]
    readonly securityContext: object
    readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
    readonly startupProbe?: Probe
    readonly readinessProbe?: Probe
    readonly livenessProbe?: Probe
  }[]
}

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } }

type Kustomization = {
  readonly resources: readonly string[]
  readonly images: readonly { readonly name: string; readonly newTag: string }[]
  readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly [string] }[]
}

const folder = 'deploy/kubernetes'

export const kustomization = parse(readProjectFile(path.join(folder, 'kustomization.yaml'))) as Kustomization

/** What the files of deploy/kubernetes declare, in their order. */
export function readManifests(): Manifest[] {
  return kustomization.resources.flatMap((file) =>
    parseAllDocuments(readProjectFile(path.join(folder, file))).map((document) => document.toJS() as Manifest),
  )
}

/** The variables of the configuration, as the generated ConfigMap has them. */
export function readVariables(): Record<string, string> {
  const [
    {
      envs: [file],
    } = { envs: [''] },
  ] = kustomization.configMapGenerator
  const lines = readProjectFile(path.join(folder, file)).trim().split('\n')
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
