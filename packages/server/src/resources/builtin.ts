/** Built-in kinds as served resources. Each is created on first use. */

import {
  applyScale,
  apiVersionOf,
  builtinGroups,
  builtinStrategy,
  checkFields,
  convert,
  fieldSelectorFor,
  mergeTypeOfBuiltin,
  normalise,
  normaliseExact,
  recordRequester,
  scaleOf,
  schemaOf,
} from '@hangar/api';
import type {
  BuiltinResource,
  FieldReport,
  FieldSelector,
  JsonObject,
  KubeObject,
  MergeType,
  TablePrinter,
} from '@hangar/api';
import type { RepeatedKeys, Strategy } from '@hangar/api';
import { tables } from '../objects/tables.ts';
import type { User } from '../auth/user.ts';
import type { ControlPlane } from '../control-plane.ts';
import { allocationOf } from '../allocation/index.ts';
import { StoredForm } from '../objects/stored.ts';
import { definitionDeletion, definitionStrategy, establish, isDefinitions, served } from '../definitions/resource.ts';
import { deletionRulesOf } from './deletion.ts';
import type { Resource, ScaleAccess } from './resource.ts';

const eventTimeToLiveMs = 3_600_000;

/** Deprecated kinds, with the warning for their clients. */
const deprecationWarnings: Readonly<Record<string, string>> = {
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

const scalable: ScaleAccess = { replicasPath: ['spec', 'replicas'], scaleOf, applyScale };

class BuiltinServedResource implements Resource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: Resource['verbs'];
  readonly shortNames: Resource['shortNames'];
  readonly categories: Resource['categories'];
  readonly subresources: Resource['subresources'];
  readonly storagePrefix: string;
  readonly stored: StoredForm;
  readonly deletion: Resource['deletion'];
  readonly hasStandardFinalizers: boolean;
  readonly struct: NonNullable<Resource['struct']>;
  readonly scale: ScaleAccess | undefined;
  readonly allocation: Resource['allocation'];
  readonly timeToLiveMs: number | undefined;
  readonly deprecationWarning: string | undefined;
  readonly strategy: Strategy;
  readonly complete?: NonNullable<Resource['complete']>;
  readonly settled?: NonNullable<Resource['settled']>;
  readonly #resource: BuiltinResource;
  #mergeType: MergeType | undefined;
  #table: TablePrinter | undefined;

  constructor(resource: BuiltinResource) {
    const { group, version, name, kind } = resource;
    this.#resource = resource;
    this.group = group;
    this.version = version;
    this.apiVersion = apiVersionOf(resource);
    this.name = name;
    this.singular = resource.singular;
    this.kind = kind;
    this.listKind = `${kind}List`;
    this.namespaced = resource.namespaced;
    this.verbs = resource.verbs;
    this.shortNames = resource.shortNames;
    this.categories = resource.categories;
    this.subresources = resource.subresources;
    this.storagePrefix = resource.storage?.prefix ?? '';
    // Definitions are stored in a version that is no longer served; every server reads the current one as well.
    const given = resource.storage?.apiVersion;
    const storedApiVersion = given !== undefined && schemaOf(given, kind) ? given : this.apiVersion;
    this.struct = schemaOf(this.apiVersion, kind)!;
    const { apiVersion, struct } = this;
    this.stored = new StoredForm({ kind, apiVersion, storedApiVersion, isCustom: false, struct, convert: converted });
    this.hasStandardFinalizers = !laxAboutFinalizers.has(group);
    this.deletion = isDefinitions(group, name) ? definitionDeletion : deletionRulesOf(resource);
    this.scale = resource.subresources.some((one) => one.name === 'scale') ? scalable : undefined;
    this.deprecationWarning = group === '' ? deprecationWarnings[name] : undefined;
    this.allocation = allocationOf(group, name);
    this.timeToLiveMs = name === 'events' ? eventTimeToLiveMs : undefined;
    this.strategy = isDefinitions(group, name) ? definitionStrategy : builtinStrategy(resource);
    if (isDefinitions(group, name)) {
      this.complete = establish;
      this.settled = served;
    }
  }

  get mergeType(): MergeType {
    return (this.#mergeType ??= mergeTypeOfBuiltin(this.struct));
  }

  get table(): TablePrinter {
    return (this.#table ??= tables().builtinTable(this.#resource));
  }

  read(value: JsonObject, repeated: RepeatedKeys | undefined): { object: KubeObject } & FieldReport {
    const exact = repeated?.size ? undefined : normaliseExact(this.struct, value);
    if (exact) return { object: this.#typed(exact), ...nothingToReport };
    const report = checkFields(this.struct, value, repeated === undefined ? {} : { repeated });
    if (report.error !== undefined) return { object: value as KubeObject, ...report };
    return { object: this.#typed(normalise(this.struct, value)), ...report };
  }

  #typed(object: JsonObject): KubeObject {
    object['kind'] = this.kind;
    object['apiVersion'] = this.apiVersion;
    return typeFirst(object as KubeObject);
  }

  convert(_plane: ControlPlane, object: KubeObject, apiVersion: string): KubeObject {
    return converted(object, apiVersion);
  }

  recordCreator(object: KubeObject, { name: username, uid, groups, extra }: User): void {
    if (this.kind === 'CertificateSigningRequest') recordRequester(object, { username, uid, groups, extra });
  }

  fieldSelector(text: string): FieldSelector {
    return fieldSelectorFor({ apiVersion: this.apiVersion, kind: this.kind }, text);
  }
}

const nothingToReport: FieldReport = { error: undefined, problems: [] };

/** A body may omit its type; every object has it as its first fields. */
function typeFirst(object: KubeObject): KubeObject {
  const [first] = Object.keys(object);
  if (first === 'kind') return object;
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
}

/** Versions differ in the fields that they always write; versions that are only stored have no schema. */
function converted(object: KubeObject, apiVersion: string): KubeObject {
  const struct = schemaOf(apiVersion, object.kind);
  const result = convert(object, apiVersion);
  return struct ? (normalise(struct, result) as KubeObject) : result;
}

/** Groups whose finalizers are validated only by the generic rules. */
const laxAboutFinalizers = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'policy',
]);

const made = new Map<string, Resource | undefined>();

/** Returns undefined if the resource does not exist or is not served by default. */
export function builtinServed(group: string, version: string, name: string): Resource | undefined {
  const id = `${group}/${version}/${name}`;
  const known = made.get(id);
  if (known !== undefined) return known;
  const found = builtinGroups()
    .find((one) => one.name === group)
    ?.versions.find((one) => one.name === version)
    ?.resources.find((one) => one.name === name);
  // Unknown names are not cached: they come from clients.
  if (!found?.isServedByDefault) return undefined;
  const resource = new BuiltinServedResource(found);
  made.set(id, resource);
  return resource;
}
