/**
 * A client that is limited to one namespace of its cluster, as if the server forbade all others. Requests without a namespace use this one.
 * It protects against mistakes of reconcilers; use RBAC against malice.
 */

import { StatusError } from '@hangar/api/status';
import { isPlainPath } from '@hangar/client';
import type { ApiObject, Client, Draft, HttpRequest, Kind, KindNames, ObjectKey, Subresource } from '@hangar/client';

export function confinedClient(client: Client, namespace: string): Client {
  const within = confinement(namespace);
  return {
    get: async (kind, key, options) => client.get(kind, within.readKey(kind, key), options),
    list: async (kind, options) => client.list(kind, within.options(kind, options)),
    async *listAll(kind, options) {
      yield* client.listAll(kind, within.options(kind, options));
    },
    async *watch(kind, options) {
      yield* client.watch(kind, within.options(kind, options));
    },
    create: async (kind, object, options) => client.create(kind, within.object(kind, object), options),
    update: async (kind, object, options) => client.update(kind, within.object(kind, object), options),
    patch: async (kind, key, patch, options) => client.patch(kind, within.key(kind, key), patch, options),
    apply: async (kind, object, options) => client.apply(kind, within.part(kind, object), options),
    delete: async (kind, key, options) => client.delete(kind, within.key(kind, key), options),
    deleteCollection: async (kind, options) => client.deleteCollection(kind, within.options(kind, options)),
    subresource: (name) => confinedSubresource(client.subresource(name), within),
    status: confinedSubresource(client.status, within),
    metadata: {
      get: async (kind, key, options) => client.metadata.get(kind, within.readKey(kind, key), options),
      list: async (kind, options) => client.metadata.list(kind, within.options(kind, options)),
      async *listAll(kind, options) {
        yield* client.metadata.listAll(kind, within.options(kind, options));
      },
      async *watch(kind, options) {
        yield* client.metadata.watch(kind, within.options(kind, options));
      },
      patch: async (kind, key, patch, options) => client.metadata.patch(kind, within.key(kind, key), patch, options),
      delete: async (kind, key, options) => client.metadata.delete(kind, within.key(kind, key), options),
    },
    raw: async (request) => client.raw(within.request(request)),
    close: () => client.close(),
  };
}

const confinedSubresource = (of: Subresource, within: Confinement): Subresource => ({
  get: async (kind, key, options) => of.get(kind, within.key(kind, key), options),
  create: async (kind, key, body, options) => of.create(kind, within.key(kind, key), body, options),
  update: async (kind, object, options) => of.update(kind, within.object(kind, object), options),
  patch: async (kind, key, patch, options) => of.patch(kind, within.key(kind, key), patch, options),
  apply: async (kind, object, options) => of.apply(kind, within.part(kind, object), options),
});

type Confinement = ReturnType<typeof confinement>;

/** All methods throw `Forbidden` for other namespaces. */
function confinement(namespace: string) {
  const insist = (kind: KindNames, asked: string | undefined): void => {
    if (!kind.isNamespaced)
      throw forbidden(`${kind.plural} are not namespaced, and this client is limited to namespace "${namespace}"`);
    if (asked !== undefined && asked !== namespace) {
      throw forbidden(
        `cannot access ${kind.plural} in namespace "${asked}": this client is limited to namespace "${namespace}"`,
      );
    }
  };
  const key = (kind: KindNames, given: ObjectKey): ObjectKey => {
    insist(kind, given.namespace);
    return { namespace, name: given.name };
  };
  const placed = <O extends { metadata?: object | undefined }>(kind: KindNames, object: O): O => {
    const metadata = object.metadata as { namespace?: string } | undefined;
    insist(kind, metadata?.namespace);
    return metadata?.namespace === namespace ? object : { ...object, metadata: { ...metadata, namespace } };
  };
  const inside = new RegExp(`^/(api|apis/[^/]+)/[^/]+/namespaces/${namespace}(/|$)`);
  const itself = new RegExp(`^/api/v1/namespaces/${namespace}(/(status|finalize))?/?$`);
  return {
    key,
    /** The Namespace object itself may be read. */
    readKey(kind: KindNames, given: ObjectKey): ObjectKey {
      const isOwn = kind.apiVersion === 'v1' && kind.plural === 'namespaces' && given.name === namespace;
      return isOwn ? given : key(kind, given);
    },
    options<O extends { readonly namespace?: string | undefined }>(kind: KindNames, given?: O): O {
      insist(kind, given?.namespace);
      return { ...given, namespace } as O;
    },
    object: <T extends ApiObject>(kind: Kind<T>, object: Draft<T>): Draft<T> => placed(kind, object),
    part: <P extends object>(kind: KindNames, object: P): P => placed(kind, object),
    /** Compares paths literally and refuses ambiguous ones. The Namespace object itself may only be read. */
    request(request: HttpRequest): HttpRequest {
      const path = request.target.split('?', 1)[0]!;
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (inside.test(path) && isPlainPath(path) && (isRead || !itself.test(path))) return request;
      throw forbidden(`cannot access ${path}: this client is limited to namespace "${namespace}"`);
    },
  };
}

const forbidden = (message: string): StatusError => new StatusError('Forbidden', message);
