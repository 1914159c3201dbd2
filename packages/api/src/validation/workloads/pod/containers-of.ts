/** All containers of a pod in the order in which the rules that concern all of them visit them. */

import { child, index } from '../../../status/field-error.ts';
import type { Container, PodSpec } from '../types/pod.ts';

export interface Visited {
  readonly container: Container;
  readonly path: string;
}

export function visitContainers(spec: PodSpec, specPath: string): readonly Visited[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((kind) =>
    (spec[kind] ?? []).map((container, i) => ({ container, path: index(child(specPath, kind), i) })),
  );
}
