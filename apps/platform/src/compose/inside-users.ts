/**
 * Users of this process: the operator and the controllers, who ask the server without a socket. Such a user is known by the very
 * object that its transport passes as the other end of the connection. Nobody else can have that object: what comes from a port
 * brings an object of the port's own making, whatever it shows or says, and there is no secret that could be read or stolen.
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

  /** Asks as `system:hangar:<name>`, one of the masters. */
  transport(name: string, handler: Handler): HttpTransport {
    const user = `system:hangar:${name}`;
    const peer: Peer = {
      address: '127.0.0.1',
      // Tenants look further only when the connection has shown something. It is worth nothing to who does not know the object.
      certificate: { commonName: user, organizations: [], expiresAt: 0 },
    };
    this.#users.set(peer, { name: user, uid: '', groups, extra: {} });
    return new InProcessTransport({ handler: asPlatform(user, handler) as InProcessHandler, peer });
  }
}

/** Requests are work of the platform for the tenant that they are sent to. A reconcile that is under way keeps its name. */
const asPlatform =
  (user: string, handler: Handler): Handler =>
  (request) => {
    if (currentActivity()) return handler(request);
    const activity = new Activity(request.method, request.target, true);
    activity.user = user;
    return runActivity(activity, () => handler(request));
  };
