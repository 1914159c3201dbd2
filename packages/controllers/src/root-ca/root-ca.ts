/**
 * Maintains the ConfigMap `kube-root-ca.crt` in every active namespace, with which pods verify the server. Restores it when it is changed
 * or deleted, and when the CA of the server changed. If the CA is not known, it is left alone, as in a kube-controller-manager without a
 * root CA.
 */

import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '@hangar/api';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, RemoteWorld } from '../contract.ts';
import { AuthorityNotes, isAuthorityCheck } from '../shared/authority-notes.ts';
import { EachNamespace } from '../shared/each-namespace.ts';
import type { EachNamespaceOptions } from '../shared/each-namespace.ts';

const name = 'kube-root-ca.crt';
const descriptionAnnotation = 'kubernetes.io/description';
/** The text of Kubernetes: a kube-controller-manager that takes over finds nothing to do. */
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Stands for all namespaces of a control plane in requests. It is not a valid name. */
const allNamespaces = '*';

interface TenantWithPort extends KubeObject {
  readonly status?: { readonly nodes?: { readonly port?: number } };
}

async function askEach(cluster: string, { client, ask, signal }: ControllerContext): Promise<void> {
  const { items } = await client.list(Namespace, { signal });
  for (const { metadata } of items) ask({ cluster, name: metadata.name! });
}

export class RootCaController extends EachNamespace<ConfigMap> {
  readonly name = 'root-ca';
  readonly #keysOf: RemoteWorld['keysOf'];
  readonly #authorities: AuthorityNotes;
  /** Control planes with a port for nodes. */
  readonly #withPort = new Set<string>();
  #isSynced = false;

  constructor({ keysOf }: Pick<RemoteWorld, 'keysOf'>, options?: EachNamespaceOptions) {
    super({ kind: ConfigMap, name }, options);
    this.#keysOf = keysOf;
    this.#authorities = new AuthorityNotes(keysOf);
  }

  override synced(ask: Ask): void {
    super.synced(ask);
    this.#isSynced = true;
    this.#authorities.askAll(ask);
  }

  /** The CA depends on whether the control plane has a port for nodes. */
  override clusterChanged(cluster: string, tenant: KubeObject, ask: Ask): void {
    super.clusterChanged(cluster, tenant, ask);
    const hasPort = (tenant as TenantWithPort).status?.nodes?.port !== undefined;
    if (hasPort === this.#withPort.has(cluster)) return;
    if (hasPort) this.#withPort.add(cluster);
    else this.#withPort.delete(cluster);
    // Those that exist at the start are compared when everything is delivered.
    if (this.#isSynced) ask({ cluster, name: allNamespaces });
  }

  override clusterTold(cluster: string, ask: Ask): void {
    super.clusterTold(cluster, ask);
    this.#authorities.askFor(cluster, ask);
  }

  override reset(): void {
    super.reset();
    this.#isSynced = false;
    this.#withPort.clear();
    this.#authorities.clear();
  }

  override clusterGone(cluster: string): void {
    super.clusterGone(cluster);
    this.#withPort.delete(cluster);
    this.#authorities.forget(cluster);
  }

  override reconcile(request: Request, context: ControllerContext): Promise<void> {
    if (isAuthorityCheck(request)) return this.#authorities.check(request.cluster, context.ask);
    if (request.name === allNamespaces) return askEach(request.cluster, context);
    return super.reconcile(request, context);
  }

  protected override get isFollowed(): boolean {
    return true;
  }

  protected override objectTold(change: Change): void {
    const { data } = change.object() as unknown as ConfigMap;
    this.#authorities.note(change.cluster, { name: change.namespace }, data?.['ca.crt'] ?? '');
  }

  protected override async wanted(namespace: string, cluster: string): Promise<ConfigMap | undefined> {
    const annotations = { [descriptionAnnotation]: description };
    const data = await this.#data(cluster);
    return data && { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, annotations }, data };
  }

  protected override async revised(object: ConfigMap, cluster: string): Promise<ConfigMap | undefined> {
    const data = await this.#data(cluster);
    if (!data) return undefined;
    const { metadata } = object;
    // Any text is accepted, as in kube-controller-manager.
    const isDescribed = (metadata.annotations?.[descriptionAnnotation] ?? '') !== '';
    if (isDescribed && isDeepStrictEqual(object.data, data)) return undefined;
    const annotations = { ...metadata.annotations, [descriptionAnnotation]: description };
    return { ...object, metadata: { ...metadata, annotations }, data };
  }

  async #data(cluster: string): Promise<Record<string, string> | undefined> {
    const { servingCa } = await this.#keysOf(cluster);
    return servingCa === undefined ? undefined : { 'ca.crt': servingCa };
  }
}
