/**
 * Users inside this process: the operator and the controllers, which call the server without a socket. Such a user is identified by the
 * object that its transport passes as the peer of the connection. No other client can have that object: requests from a port have a peer
 * that the port created, and there is no secret that could be read or stolen.
 */

import { InProcessTransport } from '@hangar/client';
import { Activity, currentActivity, runActivity } from '@hangar/core';
import type { HttpTransport, InProcessHandler } from '@hangar/client';
import type { Authenticator, Handler, Peer, ServerRequest, User } from '@hangar/server';

const groups = ['system:masters', 'system:authenticated'];

export class InsideUsers implements Authenticator {
  readonly #users = new WeakMap<Peer, User>();

  authenticate({ peer }: ServerRequest): User | undefined {
    return this.#users.get(peer);
  }

  /** Sends requests as `system:hangar:<name>`, a member of system:masters. */
  transport(name: string, handler: Handler): HttpTransport {
    const user = `system:hangar:${name}`;
    const peer: Peer = {
      address: '127.0.0.1',
      // Tenants authenticate further only when the connection has a certificate. It is worthless without the peer object.
      certificate: { commonName: user, organizations: [], expiresAt: 0 },
    };
    this.#users.set(peer, { name: user, uid: '', groups, extra: {} });
    return new InProcessTransport({ handler: asPlatform(user, handler) as InProcessHandler, peer });
  }
}

/** Attributes requests to the platform, for the tenant that they are sent to. A reconcile in progress keeps its name. */
const asPlatform =
  (user: string, handler: Handler): Handler =>
  (request) => {
    if (currentActivity()) return handler(request);
    const activity = new Activity(request.method, request.target, true);
    activity.user = user;
    return runActivity(activity, () => handler(request));
  };
