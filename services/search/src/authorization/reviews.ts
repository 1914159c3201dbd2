/**
 * Reviews the rights of users in control planes by SubjectAccessReviews. Results are cached for seconds, for each control plane separately,
 * so that one with many users does not displace the results of others.
 */

import { StatusError } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Client } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { AccessReviews } from '@hangar/server/library';
import type { ReviewClient, User } from '@hangar/server/library';
import type { Question, Review } from './readable.ts';

export interface ReviewsOptions {
  /** Returns the client of a control plane. */
  readonly clientOf: (cluster: string) => Pick<Client, 'raw'>;
  readonly clock: Clock;
}

/** Control planes with cached results. */
const clustersMax = 1_000;
const timeoutMs = 5_000;

/** Returns a function that creates a review in a control plane. It rejects if the review fails. */
export function accessReviews({ clientOf, clock }: ReviewsOptions): Review {
  /** Least recently used first. */
  const known = new Map<string, AccessReviews>();
  const reviewsOf = (cluster: string): AccessReviews => {
    const reviews = known.get(cluster) ?? new AccessReviews(reviewClient(clientOf(cluster)), clock);
    known.delete(cluster);
    known.set(cluster, reviews);
    if (known.size > clustersMax) known.delete(known.keys().next().value!);
    return reviews;
  };
  return async (cluster: string, user: User, question: Question) => {
    const { subresource = '', ...asked } = question;
    const judgement = await reviewsOf(cluster).authorize(user, {
      isResource: true,
      ...asked,
      version: '*',
      subresource,
      rest: '',
    });
    if (typeof judgement === 'object' && judgement.error) throw judgement.error;
    return (typeof judgement === 'object' ? judgement.decision : judgement) === 'allow';
  };
}

const reviewClient = (client: Pick<Client, 'raw'>): ReviewClient => ({
  async create(path, object): Promise<JsonObject> {
    const answer = await client.raw({
      method: 'POST',
      target: path,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(object)),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = (await answer.body()).toString();
    if (answer.status >= 300) throw new StatusError('InternalError', refusalMessage(answer.status, text));
    return JSON.parse(text) as JsonObject;
  },
});

function refusalMessage(status: number, text: string): string {
  return `the review failed with status ${status}: ${text.slice(0, 200)}`;
}
