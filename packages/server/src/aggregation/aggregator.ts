/**
 * Aggregator of one control plane: maps group-versions to the servers that serve them. Follows the APIServices in the store. Merged
 * documents are built from results collected in the background, so a server that hangs or is down affects only its own requests.
 */

import { Counter, labelText } from '@hangar/core';
import type { Timer } from '@hangar/core';
import type { ControlPlane } from '../control-plane.ts';
import type { User } from '../auth/user.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { Followed } from '../objects/followed.ts';
import { apiServiceName, apiServicesName } from '../resources/api-services.ts';
import { discoveryPath, isRemote, registeredService, targetOf } from './api-service.ts';
import type { RegisteredService } from './api-service.ts';
import { local, servicePart, slicePart } from './availability.ts';
import type { ClusterView, ServicePart, SlicePart } from './availability.ts';
import { writeAvailability } from './condition.ts';
import { insistOnPlainTarget, isDevious } from './target.ts';
import { isReturning } from './headers.ts';
import { PageNotFound } from '../objects/page-not-found.ts';
import { proxied, textAnswer, unavailable } from './proxy.ts';
import { RemoteApi } from './remote-api.ts';
import type { RemoteApiOptions } from './remote-api.ts';
import type { KeyPair } from './remote-server.ts';
import type { RemoteVersion } from './merged-discovery.ts';
import type { RemoteOpenApi } from './merged-open-api.ts';
import type { OpenApiV3Document } from './remote-documents.ts';

const lookDelayMs = 100;
const unavailableSeriesMax = 200;

export interface AggregatorOptions {
  readonly plane: ControlPlane;
  /**
   * Client certificate of the front proxy, by which aggregated servers authenticate this one. Called for every connection, because it is
   * renewed.
   */
  readonly clientCertificate: () => KeyPair | undefined;
  readonly onError: (error: Error) => void;
}

export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #self: string;
  readonly #apiServices: Followed<RegisteredService>;
  readonly #services: Followed<ServicePart>;
  readonly #slices: Followed<SlicePart>;
  /** Keyed by the name of the APIService. */
  readonly #remotes = new Map<string, RemoteApi>();
  /** Kept with the aggregator: a rise shows a server that became unavailable. */
  readonly #unavailable = new Counter(
    'aggregator_unavailable_apiservice_total',
    'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    'counter',
    unavailableSeriesMax,
  );
  #look: Timer | undefined;
  #generation = 0;
  #isClosed = false;

  constructor(options: AggregatorOptions) {
    const { plane } = options;
    this.#options = options;
    this.#self = `hangar-${plane.name}-${Math.floor(plane.random.fraction() * 2 ** 48).toString(36)}`;
    this.#apiServices = new Followed(plane, apiServicesName, registeredService, () => this.#settle(), {
      isShared: true,
    });
    const recheck = (): void => this.#lookSoon();
    const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
    this.#services = new Followed(plane, { group: '', version: 'v1', resource: 'services' }, servicePart, recheck);
    this.#slices = new Followed(plane, slices, slicePart, recheck);
  }

  /** Resolves when the APIServices are known. The servers behind them are checked in the background. */
  async start(): Promise<void> {
    await this.#apiServices.ready();
  }

  close(): void {
    this.#isClosed = true;
    this.#look?.cancel();
    for (const followed of [this.#apiServices, this.#services, this.#slices]) followed.close();
    for (const remote of this.#remotes.values()) remote.close();
    this.#remotes.clear();
  }

  /** Delays the check: Services and endpoints change often, and most changes are irrelevant here. */
  #lookSoon(): void {
    this.#look ??= this.#options.plane.clock.after(lookDelayMs, () => {
      this.#look = undefined;
      const [services, slices] = [this.#services.all, this.#slices.all];
      if (!services || !slices) return;
      for (const remote of this.#remotes.values()) remote.reconsider({ services, slices });
    });
  }

  /** Increases whenever the set of remotely served APIs changes. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns metrics in the Prometheus text format. APIServices that this server serves itself are available. */
  metrics(): string {
    const lines = [...(this.#apiServices.all?.keys() ?? [])].map((name) => {
      const isAvailable = this.#remotes.get(name)?.isAvailable ?? true;
      return `aggregator_unavailable_apiservice${labelText({ name })} ${isAvailable ? 0 : 1}\n`;
    });
    return `${metricsHead}${lines.join('')}${this.#unavailable.text()}`;
  }

  /** Remote group-versions, for discovery. */
  get versions(): RemoteVersion[] {
    return [...this.#remotes.values()].map(({ service, documents: { resources, isFresh } }) => {
      const { group, version, groupPriority, versionPriority } = service;
      return { group, version, groupPriority, versionPriority, resources, isFresh };
    });
  }

  /** Remote OpenAPI v3 documents by path. */
  get v3(): ReadonlyMap<string, OpenApiV3Document> {
    const known = [...this.#remotes.values()].flatMap(({ service, documents: { openApiV3 } }) =>
      openApiV3 ? [[discoveryPath(service).slice(1), openApiV3] as const] : [],
    );
    return new Map(known);
  }

  get v2(): RemoteOpenApi[] {
    return [...this.#remotes.values()].flatMap(({ service, documents: { openApiV2: bytes } }) =>
      bytes ? [{ prefix: discoveryPath(service), bytes }] : [],
    );
  }

  /** Returns the remote API that serves this path, if any. */
  find(path: string): RemoteApi | undefined {
    if (this.#remotes.size === 0) return undefined;
    const [, root, one, two] = path.split('/');
    if (root === 'apis' && one && two) return this.#serving(one, two);
    return root === 'api' && one ? this.#serving('', one) : undefined;
  }

  /** The name alone is ambiguous: `v1.a.b.c` does not show where the version stops. */
  #serving(group: string, version: string): RemoteApi | undefined {
    const remote = this.#remotes.get(apiServiceName(group, version));
    return remote?.service.group === group && remote.service.version === version ? remote : undefined;
  }

  /** Proxies the request. The user is already authenticated and authorized. */
  async answer(remote: RemoteApi, path: string, request: ServerRequest, user: User): Promise<Answer> {
    if (isDevious(path)) throw new PageNotFound();
    insistOnPlainTarget(request.target);
    if (!remote.isAvailable) return unavailable;
    if (isReturning(request, this.#self))
      return textAnswer(508, 'the request was already proxied by this server: the APIService forms a loop');
    const isDiscovery = path.replace(/\/$/, '').split('/').length <= 4;
    const { clock } = this.#options.plane;
    return proxied(remote.server, request, user, {
      clock,
      self: this.#self,
      isDiscovery,
      // Check now, so that later requests do not have to detect the failure themselves.
      onFailure: () => remote.recheck(),
    });
  }

  #settle(): void {
    const known = this.#apiServices.all;
    if (!known || this.#isClosed) return;
    for (const [name, remote] of this.#remotes) {
      const registered = known.get(name);
      if (registered && isRemote(registered) && targetOf(registered) === remote.target) {
        if (prioritiesOf(registered) !== prioritiesOf(remote.service)) this.#generation++;
        remote.service = registered;
        continue;
      }
      remote.close();
      this.#remotes.delete(name);
      this.#generation++;
    }
    for (const registered of known.values()) this.#add(registered);
  }

  #add(registered: RegisteredService): void {
    if (!isRemote(registered)) {
      if (registered.available?.reason !== local.reason) this.#markLocal(registered);
      return;
    }
    // APIServices are needed to repair all others, so this group is never served remotely.
    if (this.#remotes.has(registered.name) || registered.group === apiServicesName.group) return;
    const { plane, clientCertificate, onError } = this.#options;
    const options: RemoteApiOptions = {
      plane,
      reach: { outbound: plane.outbound, services: plane.services, clientCertificate },
      onError,
      view: () => this.#view(),
      onDocuments: () => void this.#generation++,
      onUnavailable: (reason) => this.#unavailable.add(labelText({ name: registered.name, reason })),
    };
    this.#remotes.set(registered.name, new RemoteApi(registered, options));
    this.#generation++;
  }

  #markLocal(registered: RegisteredService): void {
    writeAvailability(this.#options.plane, registered, local).catch(this.#options.onError);
  }

  async #view(): Promise<ClusterView> {
    const [services, slices] = await Promise.all([this.#services.ready(), this.#slices.ready()]);
    return { services, slices };
  }
}

const metricsHead =
  '# HELP aggregator_unavailable_apiservice Gauge of APIServices which are marked as unavailable broken down by APIService name.\n' +
  '# TYPE aggregator_unavailable_apiservice gauge\n';

const prioritiesOf = ({ groupPriority, versionPriority }: RegisteredService): string =>
  `${groupPriority} ${versionPriority}`;
