/**
 * Selects the view of a request: the kinds of the service, limited to a scope.
 *
 *     the front proxy of control plane "demo"        events of "demo"; its API server has authorized the request
 *     the management plane, user of a project        events of the project
 *     the management plane, user of an organization  events of its projects
 *     the management plane                           all events
 *     other clients                                  401: their tokens and certificates do not have the extras
 *
 * A user of a project or an organization has the extras `iam.miloapis.com/parent-type` and `parent-name`, which the management plane sets.
 * In the management plane they only narrow the view. In requests of control planes they are ignored: an administrator of a control plane
 * can impersonate every user with every extra.
 */

import { StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import {
  FrontProxyAuthenticator,
  frontProxyHeaders,
  isPublicPath,
  PlaneProofs,
  splitTarget,
} from '@hangar/server/library';
import type { AggregatedServerOptions, AggregatedView, Authorizer, Kind, User } from '@hangar/server/library';
import type { PlaneDirectory } from './directory.ts';
import { organizationScope, planeScope } from './scope.ts';
import type { Scope } from './scope.ts';

type Select = NonNullable<AggregatedServerOptions['select']>;
type World = Parameters<Select>[1];

export const parentType = 'iam.miloapis.com/parent-type';
export const parentName = 'iam.miloapis.com/parent-name';

const viewsMax = 256;

/** The API server of the control plane authorized the request before it passed it on. */
const authorizedByPlane: Authorizer = { authorize: () => 'allow' };

export interface ViewsOptions {
  readonly directory: PlaneDirectory;
  readonly clock: Clock;
  kindsOf(scope: Scope): readonly Kind[];
}

/** Returns the function that selects views, which are kept for later requests. */
export function scopedViews(options: ViewsOptions): Select {
  const { directory, clock, kindsOf } = options;
  const proofs = new PlaneProofs(directory, clock);
  const views = new Map<string, AggregatedView>();
  const keep = (key: string, make: () => AggregatedView): AggregatedView => {
    const view = views.get(key) ?? make();
    views.delete(key);
    views.set(key, view);
    if (views.size > viewsMax) {
      const [oldest, unused] = views.entries().next().value!;
      views.delete(oldest);
      unused.close();
    }
    return view;
  };
  const narrowed = (scope: Scope, { open }: World): AggregatedView =>
    keep(scope.id, () => open({ kinds: kindsOf(scope) }));
  return async (request, world) => {
    const proven = await proofs.prove(request);
    if (proven) {
      const { plane, authority } = proven;
      const scope = planeScope(plane);
      const view = keep(`front-proxy/${scope.id}/${authority.id}`, () =>
        world.open({
          kinds: kindsOf(scope),
          authenticators: [
            new FrontProxyAuthenticator(clock, { authorities: authority.certificate, ...frontProxyHeaders }),
          ],
          authorizers: [authorizedByPlane],
        }),
      );
      return { ...view, handle: () => view.handle(proven.request) };
    }
    // Health and version have no events. All other views are of users that the management plane names: it sets the extras.
    if (isPublicPath(splitTarget(request.target).path)) return undefined;
    const user = world.proxiedUserOf(request);
    if (!user) throw new StatusError('Unauthorized', 'Unauthorized');
    const scope = await scopeOfUser(user, directory);
    return scope && narrowed(scope, world);
  };
}

/** Returns undefined for users of the platform. Rejects with 403 if the extras name no scope: such a user must not see all events. */
async function scopeOfUser({ extra }: User, directory: PlaneDirectory): Promise<Scope | undefined> {
  const types = extra[parentType] ?? [];
  const names = extra[parentName] ?? [];
  if (types.length === 0 && names.length === 0) return undefined;
  const [type, name] = [types[0], names[0]];
  if (types.length === 1 && names.length === 1 && name !== undefined && name !== '') {
    if (type === 'Organization') return organizationScope(name, () => directory.planesOf(name));
    const plane = type === 'Project' ? await directory.planeOf(name) : undefined;
    if (plane) return planeScope(plane);
  }
  throw new StatusError(
    'Forbidden',
    `the user extras ${parentType} and ${parentName} do not name an organization or a project`,
  );
}
