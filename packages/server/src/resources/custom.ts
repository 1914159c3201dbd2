/** Custom resources as served resources: one per version of a CustomResourceDefinition. */

import { fieldSelectorFor, isObject, mergeTypeOfSchema } from '@hangar/api';
import type {
  FieldReport,
  FieldSelector,
  JsonObject,
  KubeObject,
  MergeType,
  RepeatedKeys,
  Strategy,
  Subresource,
  TablePrinter,
} from '@hangar/api';
import type { CompiledVersion, CustomResourceDefinition, DefinitionVersion } from '@hangar/api/crd';
import type { ControlPlane } from '../control-plane.ts';
import { tables } from '../objects/tables.ts';
import { repeatedProblems } from '../objects/repeated.ts';
import { StoredForm } from '../objects/stored.ts';
import type { DeletionRules, Resource, ScaleAccess } from './resource.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs = ['get', 'patch', 'update'];

export const customDeletion: DeletionRules = {
  returnsObject: false,
  dependents: 'delete',
  graceSeconds: () => undefined,
  isHeld: () => false,
};

export class CustomServedResource implements Resource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs = verbs;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly storagePrefix: string;
  readonly stored: StoredForm;
  readonly strategy: Strategy;
  readonly deletion: DeletionRules = customDeletion;
  readonly struct = undefined;
  readonly scale: ScaleAccess | undefined;
  readonly timeToLiveMs = undefined;
  readonly deprecationWarning: string | undefined;
  readonly isTerminating: boolean;
  readonly #compiled: CompiledVersion;
  readonly #schema: JsonObject;
  readonly #definition: CustomResourceDefinition;
  readonly convert: NonNullable<Resource['convert']>;

  constructor(definition: CustomResourceDefinition, version: DefinitionVersion, versions: CompiledVersions) {
    const compiled = versions.get(`${definition.spec.group}/${version.name}`)!;
    const { spec, status } = definition;
    const names = status?.acceptedNames?.plural ? status.acceptedNames : spec.names;
    const storage = spec.versions.find((one) => one.storage)!;
    this.#definition = definition;
    this.#compiled = compiled;
    this.#schema = (version.schema?.openAPIV3Schema ?? {}) as JsonObject;
    this.group = spec.group;
    this.version = version.name;
    this.apiVersion = `${spec.group}/${version.name}`;
    this.name = names.plural;
    this.singular = names.singular ?? names.kind.toLowerCase();
    this.kind = names.kind;
    this.listKind = names.listKind ?? `${names.kind}List`;
    this.namespaced = compiled.isNamespaced;
    this.shortNames = names.shortNames ?? [];
    this.categories = names.categories ?? [];
    this.subresources = this.#subresources();
    this.storagePrefix = `${spec.group}/${names.plural}`;
    this.stored = new StoredForm({
      kind: names.kind,
      apiVersion: this.apiVersion,
      // With a conversion webhook, values are already converted here: see `definitions/conversion`.
      storedApiVersion: isConvertedByWebhook(definition) ? this.apiVersion : `${spec.group}/${storage.name}`,
      isCustom: true,
      convert: (object, apiVersion) => convertBy(versions, object, apiVersion),
      // Objects written under an older schema are adapted to the current one.
      ...(definition.metadata.generation === 1 ? {} : { refresh: (object: KubeObject) => adapt(versions, object) }),
    });
    this.convert = (_plane, object, apiVersion) => convertBy(versions, object, apiVersion);
    this.strategy = compiled.strategy;
    this.scale = compiled.scale && scaleAccess(compiled);
    this.deprecationWarning = compiled.deprecationWarning;
    this.isTerminating = definition.metadata.deletionTimestamp !== undefined;
  }

  /** Set if the objects are stored elsewhere. */
  get plane(): ControlPlane | undefined {
    return undefined;
  }

  #subresources(): Subresource[] {
    const { group, version, kind } = this;
    const found: Subresource[] = [];
    if (this.#compiled.hasStatus) found.push({ name: 'status', group, version, kind, verbs: subresourceVerbs });
    if (this.#compiled.scale) {
      found.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: subresourceVerbs });
    }
    return found;
  }

  get mergeType(): MergeType {
    const shared = derivedFrom(this.#compiled);
    return (shared.mergeType ??= mergeTypeOfSchema(this.#schema, {
      preserveUnknownFields: this.#definition.spec.preserveUnknownFields ?? false,
    }));
  }

  get table(): TablePrinter {
    const shared = derivedFrom(this.#compiled);
    return (shared.table ??= tables().customTable(this.#compiled.printerColumns));
  }

  read(value: JsonObject, repeated: RepeatedKeys | undefined): { object: KubeObject } & FieldReport {
    const { apiVersion: _, kind: __, metadata, ...rest } = value;
    const object = {
      apiVersion: this.apiVersion,
      kind: this.kind,
      metadata: isObject(metadata) ? { ...metadata } : (metadata ?? {}),
      ...rest,
    } as KubeObject;
    const { error, problems } = this.#compiled.decode(object);
    return { object, error, problems: [...repeatedProblems(value, repeated), ...problems] };
  }

  fieldSelector(text: string): FieldSelector {
    const { apiVersion, kind, namespaced } = this;
    const selectableFields = this.#compiled.selectableFields.map((name) => `.${name}`);
    return fieldSelectorFor({ apiVersion, kind, selectableFields, namespaced }, text);
  }
}

interface Derived {
  mergeType?: MergeType;
  table?: TablePrinter;
}

const derived = new WeakMap<CompiledVersion, Derived>();

/** Compiled versions are shared by control planes, and so is all data derived from them alone. */
function derivedFrom(compiled: CompiledVersion): Derived {
  let known = derived.get(compiled);
  if (!known) derived.set(compiled, (known = {}));
  return known;
}

/** Keyed by apiVersion. */
export type CompiledVersions = ReadonlyMap<string, CompiledVersion>;

/** Without a webhook, versions differ only in their name. */
export const isConvertedByWebhook = ({ spec }: CustomResourceDefinition): boolean =>
  (spec as { conversion?: { strategy?: string } }).conversion?.strategy === 'Webhook';

/** Without a webhook, versions differ in their name and in the fields that their schemas keep. */
function convertBy(versions: CompiledVersions, object: KubeObject, apiVersion: string): KubeObject {
  const converted = { ...object, apiVersion };
  adapt(versions, converted);
  return converted;
}

/** Applies the schema of the object's version. In place. */
export function adapt(versions: CompiledVersions, object: KubeObject): void {
  const version = versions.get(object.apiVersion);
  version?.prune(object);
  version?.defaultObject(object);
}

function scaleAccess({ scale }: CompiledVersion): ScaleAccess {
  return {
    replicasPath: scale!.replicasPath,
    scaleOf: (object) => scale!.scaleOf(object) as unknown as KubeObject,
    scaleBeforeUpdate: (object) => scale!.scaleBeforeUpdate(object) as unknown as KubeObject,
    applyScale: (object, wanted) => scale!.applyScale(object, wanted as never),
  };
}
