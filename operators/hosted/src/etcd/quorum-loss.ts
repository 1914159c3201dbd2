/** Describes the loss of the quorum of etcd, and the command that recovers it. */

import type { HostedControlPlane } from '../api/index.ts';
import type { EtcdHealth } from './health.ts';

export function quorumLossMessage({ metadata }: HostedControlPlane, { members }: Pick<EtcdHealth, 'members'>): string {
  const quoted = (name: string): string => JSON.stringify(name);
  const answering = members.filter(({ revision }) => revision !== undefined);
  const missing = members.filter(({ revision }) => revision === undefined).map(({ name }) => quoted(name));
  const alive = answering.map(({ name, revision }) => `${quoted(name)} answers with revision ${revision}`);
  const states = [...(missing.length > 0 ? [`${missing.join(', ')} do not answer`] : []), ...alive].join(', ');
  const command = `hangar etcd recover ${metadata.name} -n ${metadata.namespace}`;
  return `etcd has no quorum: ${states}. If the members do not return, run "${command}"`;
}
