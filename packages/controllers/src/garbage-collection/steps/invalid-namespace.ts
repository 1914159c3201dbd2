/**
 * An event about a dependent that references an owner in another namespace, with the text of Kubernetes. Informational: it never fails the
 * reconcile.
 */

import { Event } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import { kindOfResource } from '../kinds.ts';
import type { Node, Reference } from '../node.ts';
import type { Work } from './work.ts';

const component = 'garbage-collector-controller';

const ownerText = ({ apiVersion, kind, name, uid }: Reference, namespace: string): string =>
  `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;

export async function tellInvalidNamespace(work: Work, node: Node, reference: Reference): Promise<void> {
  const { client, mapper, clock, signal, log } = work;
  const { namespace, name, uid } = node;
  try {
    const { apiVersion, kind } = await kindOfResource(mapper, node, signal);
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    await client.create(
      Event,
      {
        metadata: { namespace: namespace === '' ? 'default' : namespace, generateName: `${name.slice(0, 200)}.` },
        involvedObject: { apiVersion, kind, name, uid, ...(namespace === '' ? {} : { namespace }) },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${ownerText(reference, namespace)} does not exist in namespace ${JSON.stringify(namespace)}`,
        source: { component },
        reportingComponent: component,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
      { signal },
    );
  } catch (error) {
    log.debug('failed to create an Event', { error: asError(error) });
  }
}
