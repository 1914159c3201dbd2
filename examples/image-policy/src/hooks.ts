/** The policy: images must come from allowed registries; an image without a fixed version gets a warning. */

import { Pod } from '@hangar/client/kinds/core-v1';
import { denied, mutating, validating } from '@hangar/runtime/webhooks';
import type { AdmissionHook, AskedToCreate, AskedToUpdate, HookOptions } from '@hangar/runtime/webhooks';
import { registryOf, versionOf, withRegistry } from './image.ts';

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

const imagesOf = ({ spec }: Pod): { field: string; image: string }[] =>
  lists.flatMap((list) =>
    (spec?.[list] ?? []).map(({ image = '' }, at) => ({ field: `spec.${list}[${at}].image`, image })),
  );

export function hooksOf(registries: readonly string[], options: HookOptions): AdmissionHook[] {
  const judge = ({ object, oldObject, warn }: AskedToCreate<Pod> | AskedToUpdate<Pod>): void => {
    // A pod from before the policy must still be able to change, or it could never terminate.
    const before = new Set(oldObject && imagesOf(oldObject).map(({ image }) => image));
    const images = imagesOf(object).filter(({ image }) => !before.has(image));
    const causes = images
      .filter(({ image }) => !registries.includes(registryOf(image)))
      .map(({ field, image }) => ({ field, message: `${registryOf(image)} is not one of ${registries.join(', ')}` }));
    if (causes.length > 0) throw denied(causes.map((one) => `${one.field}: ${one.message}`).join('; '), { causes });
    for (const { field, image } of images) {
      if (versionOf(image) === 'latest') warn(`${field}: tag "latest" is mutable: use a fixed version`);
    }
  };
  return [
    mutating(
      Pod,
      ({ object: { spec } }) => {
        for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
          if (container.image) container.image = withRegistry(container.image);
        }
      },
      // Not for updates: another name of the same image would restart the container.
      { ...options, operations: ['CREATE'] },
    ),
    validating(Pod, { create: judge, update: judge }, options),
    // Containers of `kubectl debug` use this subresource.
    validating(Pod, { update: judge }, { ...options, subresource: 'ephemeralcontainers', path: '/validate-debugging' }),
  ];
}
