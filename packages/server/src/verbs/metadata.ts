/** System fields of metadata, for all kinds. */

import { badRequest, formatTime } from '@hangar/api';
import type { KubeObject, OwnerReference } from '@hangar/api';
import { uuid } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { namespaceOf, warn } from './call.ts';
import type { Call } from './call.ts';

/** Removes fields that clients must not set. */
export function wipeSystemFields(object: KubeObject): void {
  const { metadata } = object;
  for (const name of [
    'creationTimestamp',
    'uid',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'selfLink',
  ] as const) {
    if (metadata[name] !== undefined) delete metadata[name];
  }
}

export function fillSystemFields(object: KubeObject, clock: Clock, random: Random): void {
  object.metadata.uid = uuid(random);
  object.metadata.creationTimestamp = timestamp(clock);
}

/** With a precision of seconds, as all timestamps of metadata. */
export const timestamp = (clock: Clock, plusSeconds = 0): string =>
  formatTime(Math.floor(clock.now() / 1_000) + plusSeconds, 'second')!;

/** Uses the namespace of the path; an object with a different one is refused. */
export function settleNamespace(call: Call, object: KubeObject): void {
  const expected = namespaceOf(call);
  const { metadata } = object;
  const given = metadata.namespace ?? '';
  if (given === expected) return;
  if (expected === '') delete metadata.namespace;
  else if (given === '') metadata.namespace = expected;
  else throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

export function checkName(object: KubeObject, name: string): void {
  const given = object.metadata.name ?? '';
  if (given === name) return;
  if (given === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

const afterAdmission = ' after mutating admission happens';

/** Removes duplicate owners, with a warning. */
export function dropRepeatedOwners(call: Call, object: KubeObject, isAfterAdmission: boolean): void {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept: OwnerReference[] = [];
  const repeated: string[] = [];
  const seen = new Set<string>();
  for (const owner of owners) {
    const text = JSON.stringify(owner, Object.keys(owner).sort());
    if (seen.has(text)) repeated.push(owner.uid);
    else kept.push(owner);
    seen.add(text);
  }
  if (repeated.length === 0) return;
  object.metadata.ownerReferences = kept;
  warn(
    call,
    `.metadata.ownerReferences contains duplicate entries${isAfterAdmission ? afterAdmission : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}
