/** Resources in the view of all control planes: they support list and watch only. */

import { builtinGroups, fieldSelectorFor } from '@hangar/api';
import type { FieldSelector, TablePrinter } from '@hangar/api';
import type { Entry } from '@hangar/store';
import type { StoredForm } from '../../objects/stored.ts';
import { tables } from '../../objects/tables.ts';
import { builtinServed } from '../../resources/builtin.ts';
import type { ResourceName } from '../../resources/catalogue.ts';
import type { Resource } from '../../resources/resource.ts';
import { AsStored } from './as-stored.ts';

export interface WildcardResourceOptions {
  readonly name: ResourceName;
  readonly storagePrefix: string;
  readonly stored: StoredForm;
  /** The resource of the management plane; absent: it does not serve it. */
  readonly known?: Resource | undefined;
  /** Handlers of the verbs; absent: none by default. */
  readonly handlers?: Handlers;
}

type Handlers = NonNullable<Resource['handlers']>;

/** Name in metrics for custom resources that only tenants define: metrics must not contain names chosen by clients. */
const anyCustom: ResourceName = { group: '', version: '', resource: 'customresources' };

/** Kind in a group that only tenants define, before an object was read. */
const unknownKind = 'Object';

export class WildcardResource implements Resource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly singular: string;
  /** Tenants may define different scopes: then both forms of paths are served. */
  readonly namespaced: boolean;
  readonly verbs = ['list', 'watch'];
  readonly shortNames = [];
  readonly categories = [];
  readonly subresources = [];
  /** Not stored in one place for all control planes: see `placePrefix`. */
  readonly storagePrefix = '';
  /** Below the prefix of each control plane. */
  readonly placePrefix: string;
  readonly stored: StoredForm;
  readonly struct: Resource['struct'];
  readonly scale = undefined;
  readonly timeToLiveMs = undefined;
  readonly deprecationWarning: string | undefined;
  readonly handlers: Handlers;
  readonly #known: Resource | undefined;

  constructor({ name, storagePrefix, stored, known, handlers = {} }: WildcardResourceOptions) {
    this.group = name.group;
    this.version = name.version;
    this.apiVersion = name.group === '' ? name.version : `${name.group}/${name.version}`;
    this.name = name.resource;
    this.singular = known?.singular ?? name.resource;
    this.struct = known?.struct;
    this.namespaced = this.struct ? known!.namespaced : true;
    this.placePrefix = storagePrefix;
    this.stored = stored;
    this.handlers = handlers;
    this.deprecationWarning = known?.deprecationWarning;
    this.#known = known;
  }

  /** Returns the resource as the server uses it. */
  answeredBy(handlers: Handlers): Resource {
    const { stored, placePrefix: storagePrefix } = this;
    const known = this.#known;
    const { group, version, name: resource } = this;
    return new WildcardResource({
      name: known ? { group, version, resource } : anyCustom,
      storagePrefix,
      stored,
      known,
      handlers,
    });
  }

  get kind(): string {
    return this.#known?.kind ?? this.#kindSeen ?? unknownKind;
  }

  get listKind(): string {
    return this.#known?.listKind ?? `${this.#kindSeen ?? ''}List`;
  }

  get #kindSeen(): string | undefined {
    return this.stored instanceof AsStored ? this.stored.kindSeen : undefined;
  }

  get table(): TablePrinter {
    return this.#known?.table ?? tables().customTable();
  }

  fieldSelector(text: string): FieldSelector {
    if (this.#known) return this.#known.fieldSelector(text);
    return fieldSelectorFor({ apiVersion: this.apiVersion, kind: this.kind, selectableFields: [] }, text);
  }

  // Read-only.
  get strategy(): never {
    return readOnly();
  }

  get deletion(): never {
    return readOnly();
  }

  get mergeType(): never {
    return readOnly();
  }

  read(): never {
    return readOnly();
  }
}

function readOnly(): never {
  throw new Error('the view of all control planes is read-only');
}

const groupPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const labelPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface FindOptions {
  readonly name: ResourceName;
  /** Returns the custom resource of the management plane, if it serves it. */
  readonly known: () => Resource | undefined;
  readonly clusterName: (entry: Entry) => string;
}

/**
 * Returns undefined if no control plane can have such objects. A custom resource is served even if no tenant defines it at the moment: a
 * tenant may define it later, and a watch must not fail because the last definition was deleted.
 */
export function wildcardResource({ name, known, clusterName }: FindOptions): WildcardResource | undefined {
  const { group, version, resource } = name;
  const builtin = builtinServed(group, version, resource);
  if (builtin) {
    if (builtin.storagePrefix === '') return undefined;
    const { storagePrefix } = builtin;
    const stored = builtin.stored.withClusterName(clusterName);
    return new WildcardResource({ name, storagePrefix, stored, known: builtin });
  }
  // Group and resource must be plain segments of a key.
  if (!groupPattern.test(group) || !labelPattern.test(version) || !labelPattern.test(resource)) return undefined;
  if (isBuiltin(group, resource)) return undefined;
  const stored = new AsStored(`${group}/${version}`, clusterName);
  return new WildcardResource({ name, storagePrefix: `${group}/${resource}`, stored, known: known() });
}

/**
 * Reports whether the resource is built-in in any version, perhaps one that is not served: its objects are not stored like custom
 * resources.
 */
const isBuiltin = (group: string, resource: string): boolean =>
  builtinGroups().some(
    (one) =>
      one.name === group && one.versions.some(({ resources }) => resources.some(({ name }) => name === resource)),
  );
