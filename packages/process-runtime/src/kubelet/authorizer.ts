/**
 * Decides which clients may use the kubelet API. A certificate of the control plane is not enough: users can have one too. As the kubelet
 * does, each client is authorized by a SubjectAccessReview for `nodes/proxy` of this node, or `nodes/metrics` for metrics.
 */

import type { TLSSocket } from 'node:tls';
import type { Client } from '@hangar/client';
import { SubjectAccessReview } from '@hangar/client/kinds/authorization-v1';
import type { Clock } from '@hangar/core';

export interface AuthorizerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** How long decisions are kept, as in the kubelet. */
const allowedMs = 300_000;
const deniedMs = 30_000;
const decisionsMax = 1_000;

interface Decision {
  readonly isAllowed: boolean;
  readonly untilMs: number;
}

export interface KubeletUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Returns the user of a client certificate. */
export function userOf(socket: TLSSocket): KubeletUser {
  const subject = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined;
  return { name: subject?.CN ?? '', groups: [subject?.O ?? []].flat() };
}

export type NodeSubresource = 'proxy' | 'metrics';

export class KubeletAuthorizer {
  readonly #options: AuthorizerOptions;
  readonly #decisions = new Map<string, Decision>();

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  /** Returns the text for a user without the right to use this API. Rejects when the review fails: an error is not an approval. */
  async refusal(
    user: KubeletUser,
    method: string,
    subresource: NodeSubresource = 'proxy',
  ): Promise<string | undefined> {
    const verb = method === 'GET' || method === 'HEAD' ? 'get' : 'create';
    if (await this.#allows(user, verb, subresource)) return undefined;
    const { nodeName } = this.#options;
    return `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}], node=${nodeName})`;
  }

  async #allows({ name, groups }: KubeletUser, verb: string, subresource: NodeSubresource): Promise<boolean> {
    const { client, clock, nodeName } = this.#options;
    const key = JSON.stringify([name, groups, verb, subresource]);
    const now = clock.monotonicMs();
    const known = this.#decisions.get(key);
    if (known && now < known.untilMs) return known.isAllowed;
    const { status } = await client.create(SubjectAccessReview, {
      metadata: {},
      spec: {
        user: name,
        groups: [...groups, 'system:authenticated'],
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName },
      },
    });
    const isAllowed = status?.allowed === true;
    if (this.#decisions.size >= decisionsMax) this.#decisions.clear();
    this.#decisions.set(key, { isAllowed, untilMs: now + (isAllowed ? allowedMs : deniedMs) });
    return isAllowed;
  }
}
