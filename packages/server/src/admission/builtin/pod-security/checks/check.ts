/** One rule of the Pod Security Standards, and the wording shared by all rules. */

import type { ObjectMeta } from '@hangar/api';
import { allContainers } from '../../pod.ts';
import type { Container, PodSpec, SecurityContext } from '../../pod.ts';

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Check = (spec: PodSpec, metadata: ObjectMeta) => Violation | undefined;

export type RestrictiveLevel = 'baseline' | 'restricted';

export interface Rule {
  readonly id: string;
  readonly level: RestrictiveLevel;
  /** Checks by the minor version of Kubernetes that introduced them, oldest first. */
  readonly versions: readonly { readonly since: number; readonly check: Check; readonly overrides?: string }[];
}

export const plural = (singular: string, many: string, count: number): string => (count === 1 ? singular : many);

export const quoted = (items: readonly string[]): string => (items.length === 0 ? '' : `"${items.join('", "')}"`);

/** `container "a"`, `containers "a", "b"`. */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`;

export const sorted = (values: ReadonlySet<string>): string[] => [...values].sort();

export const namesOf = (spec: PodSpec, isBad: (container: Container) => boolean): string[] => {
  const names: string[] = [];
  for (const container of allContainers(spec)) if (isBad(container)) names.push(container.name ?? '');
  return names;
};

/** The pod and the containers that set a bad value: `pod and container "a"`. */
export function settersOf(spec: PodSpec, isBad: (context: SecurityContext) => boolean): string[] {
  const setters = spec.securityContext && isBad(spec.securityContext) ? ['pod'] : [];
  const names = namesOf(spec, ({ securityContext }) => !!securityContext && isBad(securityContext));
  if (names.length > 0) setters.push(containersText(names));
  return setters;
}

/** The rule does not apply to Windows pods. */
export const unlessWindows =
  (check: Check): Check =>
  (spec, metadata) =>
    spec.os?.name === 'windows' ? undefined : check(spec, metadata);

/** In a user namespace, the root user of a pod has no privileges on the node. */
export const unlessUserNamespace =
  (check: Check): Check =>
  (spec, metadata) =>
    spec.hostUsers === false ? undefined : check(spec, metadata);
