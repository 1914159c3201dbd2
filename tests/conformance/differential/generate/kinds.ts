/** The kinds that sequences use, with samples of their objects and of changes to them. */

import { builtinGroups, isObject, schemaOf } from '@hangar/api';
import type { JsonObject, StructType } from '@hangar/api';
import { changeList } from '../../../../packages/api/src/strategy/testing/changes.ts';
import { corpus } from '../../../../packages/api/src/strategy/testing/corpus/index.ts';
import { customSamples, definitions } from './definitions.ts';

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Path of the collection, with `{ns}` for the namespace. */
  readonly path: string;
  readonly namespaced: boolean;
  /** Without type and name. */
  readonly bodies: readonly JsonObject[];
  /** Meaningful merge patches, with their subresource. */
  readonly changes: readonly { readonly subresource: string; readonly patch: JsonObject }[];
  readonly subresources: readonly string[];
  /** Of built-in kinds. */
  readonly struct: StructType | undefined;
}

/** Kinds whose objects change the server itself, or that its own controllers write to. */
const leftOut = new Set([
  'APIService',
  'CertificateSigningRequest',
  'CustomResourceDefinition',
  'FlowSchema',
  'IPAddress',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'PriorityLevelConfiguration',
  'ServiceCIDR',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

const usedSubresources = new Set(['status', 'scale', 'finalize', 'resize', 'ephemeralcontainers']);

function collectionPath(apiVersion: string, name: string, namespaced: boolean): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${root}/namespaces/{ns}/${name}` : `${root}/${name}`;
}

function builtinKinds(): Kind[] {
  const resources = builtinGroups().flatMap(({ name, versions }) =>
    versions.flatMap((version) =>
      version.resources.map((resource) => ({
        resource,
        apiVersion: name === '' ? version.name : `${name}/${version.name}`,
      })),
    ),
  );
  return resources.flatMap(({ resource, apiVersion }) => {
    const own = (one: { readonly kind: string; readonly apiVersion: string }): boolean =>
      one.kind === resource.kind && one.apiVersion === apiVersion;
    const bodies = corpus.filter(own).map(withoutName);
    if (bodies.length === 0 || leftOut.has(resource.kind)) return [];
    return [
      {
        apiVersion,
        kind: resource.kind,
        path: collectionPath(apiVersion, resource.name, resource.namespaced),
        namespaced: resource.namespaced,
        bodies,
        changes: changeList.filter(own),
        subresources: resource.subresources.map(({ name }) => name).filter((name) => usedSubresources.has(name)),
        struct: schemaOf(apiVersion, resource.kind),
      },
    ];
  });
}

function withoutName({ apiVersion: _a, kind: _k, metadata, ...rest }: JsonObject): JsonObject {
  const { name: _n, namespace: _ns, ...others } = isObject(metadata) ? metadata : {};
  return Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
}

function customKinds(): Kind[] {
  return customSamples.map(({ apiVersion, kind, bodies }) => {
    const definition = definitions.find(({ spec }) => (spec as CustomSpec).names.kind === kind)!;
    const { names, scope, versions } = definition['spec'] as CustomSpec;
    const namespaced = scope === 'Namespaced';
    const subresources = versions.find(({ name }) => apiVersion.endsWith(`/${name}`))?.subresources ?? {};
    return {
      apiVersion,
      kind,
      path: collectionPath(apiVersion, names.plural, namespaced),
      namespaced,
      bodies,
      changes: [],
      subresources: Object.keys(subresources),
      struct: undefined,
    };
  });
}

interface CustomSpec {
  readonly names: { readonly kind: string; readonly plural: string };
  readonly scope: string;
  readonly versions: readonly { readonly name: string; readonly subresources?: object }[];
}

const [builtin, custom] = [builtinKinds(), customKinds()];
/** Kinds with most of a cluster's traffic. */
const favourites = new Set(['ConfigMap', 'Secret', 'Service', 'Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod']);

/** Picked from evenly: kinds with more weight occur more than once. */
export const kinds: readonly Kind[] = [
  ...builtin,
  ...Array.from({ length: 3 }, () => builtin.filter(({ kind }) => favourites.has(kind))).flat(),
  ...Array.from({ length: 4 }, () => custom).flat(),
];
