import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Job } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { PersistentVolumeClaim, Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { variables } from '../../../../src/platform/config/variables.js'
import { kustomization, readManifests, readVariables } from '../../../support/documents/kubernetes.js'
import { readProjectFile } from '../../../support/documents/markdown-table.js'

const manifests = readManifests()
const models = {
  ...{ Deployment, HorizontalPodAutoscaler, Job, NetworkPolicy },
  ...{ PersistentVolumeClaim, PodDisruptionBudget, Service },
}

describe.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
  'the %s of deploy/kubernetes',
  (_name, manifest) => {
    it('is what the schema of Kubernetes has under this kind', () => {
      const Model = models[manifest.kind as keyof typeof models] as new (data: unknown) => { validate(): void }
      expect(new Model({}), manifest.kind).toMatchObject({ apiVersion: manifest.apiVersion, kind: manifest.kind })
      new Model(manifest).validate()
    })
  },
)

describe.each(
  manifests.flatMap(({ metadata, spec }) => (spec.template ? [[metadata.name, spec.template.spec] as const] : [])),
)('the pods of %s', (_name, pod) => {
  it('are confined as the restricted standard of Kubernetes has it, with a root that cannot be written', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    expect(pod.containers).toHaveLength(1)
    expect(pod.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  it('probe only ports that they have', () => {
    for (const { ports = [], startupProbe, readinessProbe, livenessProbe } of pod.containers) {
      const probed = [startupProbe, readinessProbe, livenessProbe].flatMap((probe) =>
        probe ? [probe.httpGet.port] : [],
      )
      expect(ports.map(({ name }) => name)).toEqual(expect.arrayContaining(probed))
    }
  })
})

describe('deploy/kubernetes', () => {
  it('sets only variables that exist; those that are secret are files', () => {
    const names = Object.keys(readVariables())
    const known = new Set(Object.keys(variables))
    expect(names.filter((name) => !known.has(name) && !known.has(name.replace(/_FILE$/, '')))).toEqual([])
    const secret = names.filter((name) => /URL_FILE$|KEYS_FILE$/.test(name))
    expect(secret).toEqual(['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'DONOR_KEYS_FILE'])
  })

  it('runs the image of this version', () => {
    const { version } = JSON.parse(readProjectFile('package.json')) as { version: string }
    expect(kustomization.images).toMatchObject([{ name: 'giving-iati', newTag: version }])
  })
})
