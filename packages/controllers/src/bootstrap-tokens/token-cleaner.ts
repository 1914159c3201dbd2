/** Deletes secrets of expired bootstrap tokens. Until then they wait in the queue, without requests to the server. */

import { find } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import type { Clock } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { hasText, isCore } from '../shared/resources.ts';
import { bootstrapTokenType, expiresInMs, tokenNamespace } from './token.ts';

export class TokenCleanerController implements FleetController {
  readonly name = 'token-cleaner';
  readonly isHome = true;
  readonly #clock: Clock;

  constructor({ clock }: Pick<ControllerWorld, 'clock'>) {
    this.#clock = clock;
  }

  wants(id: ResourceId): boolean {
    return isCore(id, 'secrets');
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, namespace, name, type, bytes } = change;
    if (type === 'delete' || namespace !== tokenNamespace || !hasText(bytes, bootstrapTokenType)) return;
    const leftMs = this.#leftMs(change.object() as unknown as Secret);
    if (leftMs !== undefined) ask({ cluster, namespace, name }, { afterMs: leftMs });
  }

  async reconcile({ namespace, name }: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const secret = await find(client, Secret, { namespace, name }, { signal });
    const leftMs = secret && this.#leftMs(secret);
    if (leftMs === undefined) return;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid, resourceVersion } = secret!.metadata;
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    // Changed concurrently: the expiration may have changed.
    if (!(await unlessOvertaken(client.delete(Secret, { namespace, name }, { preconditions, signal })))) {
      return { requeue: true };
    }
  }

  /** Returns undefined unless it is such a token with an expiration. */
  #leftMs(secret: Secret): number | undefined {
    if (secret.type !== bootstrapTokenType) return undefined;
    const leftMs = expiresInMs(secret, this.#clock.now());
    return leftMs === Infinity ? undefined : leftMs;
  }
}
