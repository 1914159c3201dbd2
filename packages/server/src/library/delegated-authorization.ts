/**
 * Authorizes by SubjectAccessReviews of the cluster. Results are cached for ten seconds, as in kube-apiserver's own library; the cache is
 * bounded. If the cluster is unreachable, access is denied.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { Authorizer, Judgement } from '../auth/authorize.ts';
import type { User } from '../auth/user.ts';
import type { RequestInfo } from '../request/info.ts';
import { cannotAsk } from './cluster-client.ts';
import type { ClusterClient } from './cluster-client.ts';

const rememberedMs = 10_000;
const rememberedMax = 10_000;
/** Longer requests are not cached: they are probably generated. */
const questionLengthMax = 1_000;

interface Remembered {
  readonly judgement: Judgement;
  readonly untilMs: number;
}

/** Creates an object at a path of the cluster, and returns the response. */
export type ReviewClient = Pick<ClusterClient, 'create'>;

export class AccessReviews implements Authorizer {
  readonly #client: ReviewClient;
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #known = new Map<string, Remembered>();
  readonly #asking = new Map<string, Promise<Judgement>>();

  constructor(client: ReviewClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  authorize(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    const spec = specOf(user, info);
    const id = JSON.stringify(spec);
    const known = this.#known.get(id);
    if (known && known.untilMs > this.#clock.monotonicMs()) return known.judgement;
    const asking = this.#asking.get(id) ?? this.#ask(id, spec).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    return asking;
  }

  async #ask(id: string, spec: JsonObject): Promise<Judgement> {
    let review: JsonObject;
    try {
      review = await this.#client.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        spec,
      });
    } catch (error) {
      return {
        decision: 'no opinion',
        reason: '',
        error: cannotAsk('the SubjectAccessReview of the request failed', error),
      };
    }
    const status = isObject(review['status']) ? review['status'] : {};
    const judgement: Judgement = {
      decision: status['allowed'] === true ? 'allow' : status['denied'] === true ? 'deny' : 'no opinion',
      reason: typeof status['reason'] === 'string' ? status['reason'] : '',
    };
    this.#keep(id, judgement);
    return judgement;
  }

  #keep(id: string, judgement: Judgement): void {
    this.#known.delete(id);
    if (id.length > questionLengthMax) return;
    this.#known.set(id, { judgement, untilMs: this.#clock.monotonicMs() + rememberedMs });
    if (this.#known.size > rememberedMax) this.#known.delete(this.#known.keys().next().value!);
  }
}

function specOf({ name, uid, groups, extra }: User, info: RequestInfo): JsonObject {
  const subject = {
    user: name,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  if (!info.isResource) return { ...subject, nonResourceAttributes: { path: info.path, verb: info.verb } };
  const { namespace, verb, group, version, resource, subresource, name: object } = info;
  return {
    ...subject,
    resourceAttributes: { namespace, verb, group, version, resource, subresource, name: object },
  };
}
