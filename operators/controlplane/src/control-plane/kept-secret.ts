/**
 * Secrets that the operator maintains in a management namespace. Annotations record the inputs, the content and the renewal time of each,
 * so that an up-to-date Secret is recognised without regenerating it. A change by a user is detected and repaired.
 */

import { find } from '@hangar/client';
import type { Client, ObjectOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { controllerReference, isControlledBy } from '@hangar/runtime';
import type { ControlPlane } from '../api/index.ts';
import { group, labels, labelValue } from '../api/index.ts';
import { digestOf } from './digest.ts';
import type { Pass } from './world.ts';

export type SecretObject = ObjectOf<typeof Secret>;

export const secretAnnotations = {
  madeOf: `${group}/made-of`,
  content: `${group}/content`,
  /** When its content expires, and when it is renewed. */
  expires: `${group}/expires`,
  renews: `${group}/renews`,
  /** Digests of the objects inside of the tenant. */
  inside: `${group}/inside`,
  addons: `${group}/addons`,
} as const;

export interface WantedSecret {
  readonly name: string;
  /** Value of the label that caches select by. */
  readonly holds: string;
  readonly madeOf: string;
  /** As text. */
  readonly data: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
  readonly renewsAtMs: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const annotationOf = (secret: SecretObject | undefined, name: string): string | undefined =>
  secret?.metadata.annotations?.[name];

/** The text under a key; '' when there is none. */
export const textOf = (secret: SecretObject | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();

/** Reports whether it has these inputs, is unmodified, and has the right owner. Ignores its renewal time. */
export function isIntact(
  secret: SecretObject | undefined,
  keys: readonly string[],
  controlPlane: ControlPlane,
): boolean {
  return (
    secret !== undefined &&
    annotationOf(secret, secretAnnotations.content) === contentDigest(secret.data ?? {}, keys) &&
    isControlledBy(secret, controlPlane) &&
    secret.metadata.labels?.[labels.name] === labelValue(controlPlane.metadata.name!) &&
    secret.metadata.deletionTimestamp === undefined
  );
}

export function renewsAtMs(secret: SecretObject | undefined): number {
  const time = Date.parse(annotationOf(secret, secretAnnotations.renews) ?? '');
  return Number.isNaN(time) ? 0 : time;
}

export function expiresAtMs(secret: SecretObject | undefined): number {
  const time = Date.parse(annotationOf(secret, secretAnnotations.expires) ?? '');
  return Number.isNaN(time) ? 0 : time;
}

const contentDigest = (data: Readonly<Record<string, string>>, keys: readonly string[]): string =>
  digestOf(keys.map((key) => [key, data[key] ?? null]));

export const readSecret = (reader: Pick<Client, 'get'>, { namespace, signal }: Pass, name: string) =>
  find(reader, Secret, { namespace, name }, { signal });

/** Rejects with `AlreadyExists` or `Conflict` when `before` is outdated. */
export async function putSecret(
  pass: Pass,
  before: SecretObject | undefined,
  wanted: WantedSecret,
): Promise<SecretObject> {
  const { client, namespace, controlPlane, world, signal } = pass;
  const { name } = wanted;
  const data = Object.fromEntries(
    Object.entries(wanted.data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const metadata = {
    labels: { [labels.name]: labelValue(controlPlane.metadata.name!), [labels.kubeconfig]: wanted.holds },
    annotations: {
      ...wanted.annotations,
      [secretAnnotations.madeOf]: wanted.madeOf,
      [secretAnnotations.content]: contentDigest(data, Object.keys(data)),
      [secretAnnotations.expires]: new Date(wanted.expiresAtMs).toISOString(),
      [secretAnnotations.renews]: new Date(wanted.renewsAtMs).toISOString(),
    },
    ownerReferences: [controllerReference(controlPlane)],
  };
  const create = () =>
    world.writes.make(`secret-${wanted.holds}`, () =>
      client.create(Secret, { metadata: { namespace, name, ...metadata }, type: 'Opaque', data }, { signal }),
    );
  if (!before) return create();
  const { uid, resourceVersion } = before.metadata;
  if (before.immutable || (before.type ?? 'Opaque') !== 'Opaque') {
    await world.writes.make(`secret-${wanted.holds}-delete`, () =>
      client.delete(Secret, { namespace, name }, { preconditions: { uid: uid! }, signal }),
    );
    return create();
  }
  const body = { metadata: { uid, resourceVersion, ...metadata }, data };
  return world.writes.make(`secret-${wanted.holds}`, () =>
    client.patch(Secret, { namespace, name }, { type: 'merge', body }, { signal }),
  );
}
