/**
 * Signs the ConfigMap `kube-public/cluster-info` with every bootstrap token that is allowed to sign, and removes signatures of tokens that
 * were deleted, expired or changed. Expired tokens are deleted (`token-cleaner.ts`), which the feed reports: no timer is needed here.
 *
 * At the start, control planes are compared with the delivered objects; those in the desired state are not opened.
 */

import { find } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import type { Clock } from '@hangar/core';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { ClusterNotes } from '../shared/cluster-notes.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { isCore } from '../shared/resources.ts';
import { signedData } from './signatures.ts';
import { bootstrapTokenType, signingToken, tokenNamespace, tokenPrefix } from './token.ts';
import type { SigningToken } from './token.ts';

const namespace = 'kube-public';
const name = 'cluster-info';

interface Told {
  readonly tokens: SigningToken[];
  /** Absent: the object of the base layer, without signatures. */
  info?: ConfigMap;
}

export class BootstrapSignerController implements FleetController {
  readonly name = 'bootstrap-signer';
  readonly isHome = true;
  readonly #clock: Clock;
  readonly #told = new ClusterNotes<Told>(() => ({ tokens: [] }));

  constructor({ clock }: Pick<ControllerWorld, 'clock'>) {
    this.#clock = clock;
  }

  wants(id: ResourceId): boolean {
    return isCore(id, 'secrets') || isCore(id, 'configmaps');
  }

  changed(change: Change, ask: Ask): void {
    const isToken = change.namespace === tokenNamespace && change.name.startsWith(tokenPrefix);
    const isInfo = change.namespace === namespace && change.name === name;
    if (change.resource === 'secrets' ? !isToken : !isInfo) return;
    if (change.isInitial && change.type === 'put') this.#note(change);
    else ask({ cluster: change.cluster, namespace, name });
  }

  #note(change: Change): void {
    const told = this.#told.of(change.cluster);
    if (change.resource === 'configmaps') {
      told.info = change.object() as unknown as ConfigMap;
      return;
    }
    const token = signingToken(change.object() as unknown as Secret, this.#clock.now());
    if (token) told.tokens.push(token);
  }

  synced(ask: Ask): void {
    for (const [cluster, told] of this.#told.takeAll()) askIfUnsigned(cluster, told, ask);
  }

  clusterTold(cluster: string, ask: Ask): void {
    const told = this.#told.take(cluster);
    if (told) askIfUnsigned(cluster, told, ask);
  }

  reset(): void {
    this.#told.takeAll();
  }

  clusterGone(cluster: string): void {
    this.#told.take(cluster);
  }

  async reconcile(_request: Request, { client, signal }: ControllerContext): Promise<void> {
    const info = await find(client, ConfigMap, { namespace, name }, { signal });
    if (!info) return;
    const { items } = await client.list(Secret, {
      namespace: tokenNamespace,
      fieldSelector: { type: bootstrapTokenType },
      signal,
    });
    const tokens = items.flatMap((secret) => signingToken(secret, this.#clock.now()) ?? []);
    const data = signedData(info, tokens);
    if (data) await unlessOvertaken(client.update(ConfigMap, { ...info, data }, { signal }));
  }
}

function askIfUnsigned(cluster: string, { tokens, info }: Told, ask: Ask): void {
  const isSigned = info ? signedData(info, tokens) === undefined : tokens.length === 0;
  if (!isSigned) ask({ cluster, namespace, name });
}
