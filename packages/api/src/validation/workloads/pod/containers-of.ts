/** All containers of a pod in the order in which the rules that concern all of them visit them. */

import { child, index } from '../../../status/field-error.ts';
import type { Container, PodSpec } from '../types/pod.ts';

export interface Visited {
  readonly container: Container;
  readonly path: string;
}

export function visitContainers(spec: PodSpec, specPath: string): readonly Visited[] {
  const visited: Visited[] = [];
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const path = child(specPath, kind);
    for (const [i, container] of (spec[kind] ?? []).entries()) visited.push({ container, path: index(path, i) });
  }
  return visited;
}
