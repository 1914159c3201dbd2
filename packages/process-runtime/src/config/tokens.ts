/** Tokens of the service accounts of pods, renewed after 80 % of their time, as in the kubelet. */

import type { Client } from '@hangar/client';
import type { Pod, ServiceAccountTokenProjection } from '@hangar/client/kinds/core-v1';
import { ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { Clock } from '@hangar/core';

interface Token {
  readonly text: string;
  readonly renewAt: number;
}

interface TokenAnswer {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

const defaultSeconds = 3_600;
const renewRatio = 0.8;

export class PodTokens {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, Token>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async token(
    pod: Pod,
    { audience, expirationSeconds = defaultSeconds }: ServiceAccountTokenProjection,
  ): Promise<string> {
    const { namespace, name, uid } = pod.metadata;
    const key = `${uid} ${audience ?? ''} ${expirationSeconds}`;
    const known = this.#tokens.get(key);
    const now = this.#clock.now();
    if (known && now < known.renewAt) return known.text;
    const account = pod.spec?.serviceAccountName || 'default';
    const { status } = await this.#client.subresource('token').create<TokenAnswer, ServiceAccount>(
      ServiceAccount,
      { namespace, name: account },
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          ...(audience ? { audiences: [audience] } : {}),
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      },
    );
    const lifeMs = Date.parse(status.expirationTimestamp) - now;
    this.#tokens.set(key, { text: status.token, renewAt: now + lifeMs * renewRatio });
    return status.token;
  }

  forget(pod: Pod): void {
    for (const key of this.#tokens.keys()) if (key.startsWith(`${pod.metadata.uid} `)) this.#tokens.delete(key);
  }
}
