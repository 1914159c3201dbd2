/** Helpers to write the corpus: a case is a kind and the bodies of its objects. */

import type { JsonObject } from '../../../object.ts';

export type Spec = JsonObject;
export interface Case {
  readonly apiVersion: string;
  readonly kind: string;
  readonly bodies: readonly Spec[];
}

export const all = (apiVersion: string, kind: string, ...bodies: Spec[]): Case => ({ apiVersion, kind, bodies });
export const specs = (apiVersion: string, kind: string, ...bodies: Spec[]): Case =>
  all(apiVersion, kind, ...bodies.map((spec) => ({ spec })));

export const labels = { app: 'a' };
export const selector = { matchLabels: labels };
export const container = { name: 'c', image: 'i' };
export const podSpec = { containers: [container] };
export const template = { metadata: { labels }, spec: podSpec };
