/**
 * Objects of every kind that clients can create, minimal and rich, for comparing with a real server. Names follow from the
 * kind and the place in the list, where a kind does not ask for a certain one.
 */

import type { KubeObject } from '../../../object.ts';
import { admission } from './admission.ts';
import type { Case } from './build.ts';
import { core, rbac } from './core.ts';
import { network } from './network.ts';
import { nulls } from './nulls.ts';
import { others } from './others.ts';
import { scaling } from './scaling.ts';
import { storage } from './storage.ts';
import { workloads } from './workloads.ts';

const cases: readonly Case[] = [
  ...workloads,
  ...scaling,
  ...network,
  ...storage,
  ...core,
  ...rbac,
  ...admission,
  ...others,
  ...nulls,
];

/** Every object, with a name. */
export const corpus: readonly KubeObject[] = cases.flatMap(({ apiVersion, kind, bodies }, place) =>
  bodies.map((body, i) => {
    const metadata = { name: `${kind.toLowerCase()}-${place}-${i}`, ...(body['metadata'] as object) };
    return JSON.parse(JSON.stringify({ ...body, apiVersion, kind, metadata })) as KubeObject;
  }),
);
