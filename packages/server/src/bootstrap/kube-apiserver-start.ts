/**
 * Objects that a kube-apiserver creates or corrects when it starts, and without which it exits. A kube-apiserver on a replica of a control
 * plane cannot write (see docs/adr/0037), so the control plane itself must have them before it is copied. They are also what the
 * kube-apiserver would write when it may: nothing changes at that moment.
 */

import { absent } from '@hangar/store';
import type { Base, Write } from '@hangar/store';
import { nodePortsWrite } from '../allocation/node-ports.ts';
import type { ControlPlane } from '../control-plane.ts';
import { ensureFlowControl } from './ensure-flow-control.ts';
import { ensurePolicy } from './policy/reconcile.ts';

/** Each failed attempt lost against a concurrent change. */
const attemptsMax = 10;

const requiredKeys = [
  'priorityclasses/system-cluster-critical',
  'priorityclasses/system-node-critical',
  'servicecidrs/kubernetes',
];

/**
 * Creates missing system priority classes and the default ServiceCIDR from the base, adds missing parts of the default policy and of flow
 * control, and stores the node ports in use as kube-apiserver stores them. Writes nothing if nothing is missing.
 */
export async function ensureKubeApiServerStart(plane: ControlPlane, base: Pick<Base, 'value'>): Promise<void> {
  await ensurePolicy(plane);
  await ensureFlowControl(plane);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const ports = await nodePortsWrite(plane);
    const writes = [...(await missing(plane, base)), ...(ports ? [ports] : [])];
    if (writes.length === 0 || (await plane.store.commit(writes)).committed) return;
  }
  throw new Error('failed to write the objects that a kube-apiserver needs at its start');
}

async function missing({ store, prefix }: ControlPlane, base: Pick<Base, 'value'>): Promise<Write[]> {
  const writes: Write[] = [];
  for (const relative of requiredKeys) {
    const key = `${prefix}${relative}`;
    const value = base.value(relative);
    if (!value || (await store.get(key)).entry) continue;
    writes.push({ type: 'put', key, value, expected: absent });
  }
  return writes;
}
