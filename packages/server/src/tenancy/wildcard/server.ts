/**
 * Serves the view of all control planes over HTTP: `GET /clusters/STAR/control-plane/api/v1/configmaps`, where STAR is `*`, as a list or a
 * watch. `metadata.clusterName` is the control plane of an object.
 *
 * Only members of system:masters of the management plane have access. For all others the management plane answers, as for an unknown path.
 */

import { badRequest, notAcceptable, quote, StatusError } from '@hangar/api';
import type { Revision, Store, Watch, WatchOptions } from '@hangar/store';
import type { Authorizer } from '../../auth/authorize.ts';
import { withoutParent } from '../../auth/parent-extras.ts';
import { mastersGroup } from '../../auth/user.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Answer, Handler, ServerRequest } from '../../http/message.ts';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import type { RequestInfo } from '../../request/info.ts';
import { wanted } from '../../request/media.ts';
import type { Wanted } from '../../request/media.ts';
import { Catalogue } from '../../resources/catalogue.ts';
import type { ResourceName } from '../../resources/catalogue.ts';
import type { Resource } from '../../resources/resource.ts';
import { noSuchResource } from '../../resources/unknown.ts';
import { ApiServer } from '../../server.ts';
import { namespaceOf } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import type { ListOptions } from '../../verbs/list-options.ts';
import { isKeySegment, safeNamespace } from '../../verbs/list-page.ts';
import { listOptions } from '../../verbs/list-options.ts';
import { watchBy } from '../../verbs/watch.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { ControlPlaneMetrics } from '../../metrics/control-plane-metrics.ts';
import { everyTenant } from '../route.ts';
import { RoutedRequest } from '../routed-request.ts';
import { initialState, listAll } from './list.ts';
import { placeOf } from './place.ts';
import type { Place } from './place.ts';
import type { WildcardResource } from './resource.ts';
import type { Wildcard } from './wildcard.ts';

export interface WildcardServerOptions extends Pick<TenantWorld, 'rootGuard' | 'auditor' | 'url' | 'onError'> {
  readonly wildcard: Wildcard;
  readonly root: ControlPlane;
}

export class WildcardServer {
  readonly #options: WildcardServerOptions;
  readonly #server: ApiServer;

  constructor(options: WildcardServerOptions) {
    const { root, rootGuard, auditor, url, onError } = options;
    this.#options = options;
    this.#server = new ApiServer({
      plane: {
        ...root,
        name: everyTenant,
        catalogue: new WildcardCatalogue(options),
        metrics: new ControlPlaneMetrics(root.clock),
      },
      authenticators: [{ authenticate: (request) => rootGuard().identify(request) }],
      authorizers: [masters],
      scope: withoutParent,
      anonymous: () => false,
      admits: insistOnCollections,
      health: { livez: [], readyz: [] },
      address: () => new URL(url(root.name)).host,
      ...(auditor ? { auditor } : {}),
      onError,
    });
  }

  /** `target`: the path below the view. `root`: handler of the management plane. Never rejects. */
  async handle(request: ServerRequest, target: string, root: Handler): Promise<Answer> {
    return (await this.#isMaster(request)) ? this.#server.handle(new RoutedRequest(request, target)) : root(request);
  }

  async #isMaster(request: ServerRequest): Promise<boolean> {
    try {
      const user = await this.#options.rootGuard().identify(request);
      return user?.groups.includes(mastersGroup) ?? false;
    } catch {
      // The management plane returns the reason.
      return false;
    }
  }
}

/** Members of system:masters may impersonate other users, who then have no access unless they are members, too. */
const masters: Authorizer = {
  authorize: ({ groups }) =>
    groups.includes(mastersGroup) ? 'allow' : { decision: 'deny', reason: '', error: noSuchResource() },
};

function insistOnCollections(info: RequestInfo): void {
  if (!info.isResource) throw noSuchResource();
  const { verb, name, subresource, group, resource } = info;
  if ((verb === 'list' || verb === 'watch') && name === '' && subresource === '') return;
  throw new StatusError(
    'MethodNotAllowed',
    'the view of all control planes supports list and watch only: read and write single objects in their control plane',
    { details: { ...(group === '' ? {} : { group }), kind: resource } },
  );
}

/** Resources that can be listed and watched across all control planes. */
class WildcardCatalogue extends Catalogue {
  readonly #options: WildcardServerOptions;

  constructor(options: WildcardServerOptions) {
    super({ hasBuiltin: false });
    this.#options = options;
  }

  override find(name: ResourceName): Resource | undefined {
    const { wildcard, onError } = this.#options;
    const resource = wildcard.resource(name);
    return resource?.answeredBy({
      list: (call) => {
        const place = (options: ListOptions): Place => placeFor(call, resource, options);
        return listAll({ ...call, resource }, { wildcard, want: wantedText(call), place, onError });
      },
      watch: (call) => watchAll({ ...call, resource }, wildcard),
    });
  }
}

/** Throws 406 for protobuf, which has no field for the name of the control plane. */
function wantedText({ request }: Call): Wanted {
  const accept = request.header('accept');
  const want = textOrNothing(accept);
  if (want && want.format !== 'protobuf') return want;
  throw notAcceptable(
    'the view of all control planes supports application/json and application/yaml: ' +
      'protobuf has no field for the name of the control plane',
  );
}

function textOrNothing(accept: string | undefined): Wanted | undefined {
  try {
    return wanted(accept, { hasProtobuf: false, allowsShapes: true });
  } catch {
    return undefined;
  }
}

/** Throws 400. */
function placeFor(call: Call, resource: WildcardResource, { fields }: ListOptions): Place {
  const { placePrefix, namespaced } = resource;
  const asked = namespaceOf(call);
  if (asked !== '' && !isKeySegment(asked)) throw badRequest(`invalid namespace ${quote(asked)}`);
  const namespace = asked || (namespaced ? safeNamespace(fields?.requiresNamespace) : '');
  return placeOf(placePrefix, namespace);
}

function watchAll(call: Call & { readonly resource: WildcardResource }, wildcard: Wildcard): Promise<Answer> {
  const want = wantedText(call);
  const options = listOptions(call.query, call.resource, true);
  const place = placeFor(call, call.resource, options);
  const watch = (fromRevision: Revision): Watch =>
    wildcard.watchEntries(place, fromRevision, { addsMarks: options.allowsBookmarks });
  const plane = { ...call.plane, store: new WatchedStore(wildcard.store, watch) };
  return watchBy(
    { ...call, plane },
    { want, initial: (all, wantedOptions) => initialState(all, wantedOptions, wildcard, place) },
  );
}

/** The store of all control planes, with a watch of one place in each of them. */
class WatchedStore extends ForwardingStore {
  readonly #watch: (fromRevision: Revision) => Watch;

  constructor(store: Store, watch: (fromRevision: Revision) => Watch) {
    super(store);
    this.#watch = watch;
  }

  override watch({ fromRevision }: WatchOptions): Watch {
    return this.#watch(fromRevision!);
  }
}
