/**
 * AlwaysPullImages: sets the pull policy of every container to `Always`, so that a pod cannot use a private image that another pod pulled
 * to its node.
 */

import { fieldErrorText, index, notSupported } from '@hangar/api';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { allContainers, podOf, podResources, specOf } from './pod.ts';
import type { Container, Pod, PodSpec } from './pod.ts';
import { aggregate, forbid } from '../refusal.ts';

interface ImageVolume {
  image?: { pullPolicy?: string } | null;
}

const always = 'Always';

export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  resources: podResources,
  mutate(request) {
    const spec = specWithNewImages(request);
    if (!spec) return;
    for (const container of allContainers(spec)) container.imagePullPolicy = always;
    for (const { image } of (spec.volumes ?? []) as ImageVolume[]) if (image) image.pullPolicy = always;
  },
  validate(request) {
    const spec = specWithNewImages(request);
    const problems = spec ? problemsOf(spec) : [];
    if (problems.length > 0) throw forbid(request, aggregate(problems));
  },
};

/** Returns undefined if the request adds no image. */
function specWithNewImages(request: AdmissionRequest): PodSpec | undefined {
  const pod = podOf(request);
  if (!pod) return undefined;
  const spec = specOf(pod);
  if (request.operation === 'CREATE') return spec;
  const before = new Set([...allContainers(specOf(request.old as Pod))].map(({ image }) => image));
  return [...allContainers(spec)].some(({ image }) => !before.has(image)) ? spec : undefined;
}

const kinds = ['initContainers', 'containers', 'ephemeralContainers'] as const;

function problemsOf(spec: PodSpec): string[] {
  const check = (path: string, policy = ''): string[] =>
    policy === always ? [] : [fieldErrorText(notSupported(path, policy, [always]))];
  return [
    ...kinds.flatMap((kind) =>
      ((spec[kind] ?? []) as Container[]).flatMap(({ imagePullPolicy }, at) =>
        check(`${index(`spec.${kind}`, at)}.imagePullPolicy`, imagePullPolicy),
      ),
    ),
    ...((spec.volumes ?? []) as ImageVolume[]).flatMap(({ image }, at) =>
      image ? check(`${index('spec.volumes', at)}.image.pullPolicy`, image.pullPolicy) : [],
    ),
  ];
}
