/** Creates the API server of the management plane, and its health checks. */

import { currentActivity } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { ApiServer, insistOnRoot, withoutParent } from '@hangar/server';
import type { ApiServerOptions, ControlPlane, HealthCheck } from '@hangar/server';
import type { Store } from '@hangar/store';
import type { Authentication } from './authentication.ts';
import type { ServerState } from './server-state.ts';

/** Authentication, authorization and auditing of requests. */
type Accounts = Pick<
  ApiServerOptions,
  'aggregator' | 'auditor' | 'authorizers' | 'fairness' | 'metrics' | 'strangerRefusal'
>;

export interface RootServerOptions extends Accounts {
  readonly plane: ControlPlane;
  readonly trusted: Authentication;
  readonly state: Pick<ServerState, 'isReady' | 'url'>;
  /** Besides its own; may be extended later. */
  readonly checks: readonly HealthCheck[];
  readonly log: Logger;
}

export function rootServer({ plane, trusted, state, checks, log, ...accounts }: RootServerOptions): ApiServer {
  return new ApiServer({
    plane,
    ...trusted.of(plane),
    ...accounts,
    scope: withoutParent,
    health: {
      livez: [ping],
      get readyz() {
        return [
          ping,
          { name: 'store', check: () => storeProblem(plane.store) },
          { name: 'startup', check: () => (state.isReady ? undefined : 'not started, or stopping') },
          ...checks,
        ];
      },
    },
    address: () => state.url.replace('https://', ''),
    admits: (info, request, user) => {
      const activity = currentActivity();
      if (activity?.tenant === '') {
        activity.verb = info.verb;
        activity.enterTenant(plane.name);
        activity.authenticated(user.name, false);
      }
      insistOnRoot(request);
    },
    onError: (error) => log.error('a request failed', { error }),
  });
}

const ping: HealthCheck = { name: 'ping', check: () => undefined };

async function storeProblem(store: Store): Promise<string | undefined> {
  try {
    await store.revision();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
