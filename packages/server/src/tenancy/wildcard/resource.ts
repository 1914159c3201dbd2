/** What is served of all control planes: resources that can be listed and watched, and nothing else. */

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
  /** As the management plane serves it; absent: it does not. */
  readonly known?: Resource | undefined;
  /** What answers for it; absent: nothing does by itself. */
  readonly handlers?: Handlers;
}

type Handlers = NonNullable<Resource['handlers']>;

/** What is counted of custom resources of which only tenants know: metrics have no names that clients make up. */
const anyCustom: ResourceName = { group: '', version: '', resource: 'customresources' };

/** Of an object that nobody has seen yet, in a group that only tenants know. */
const unknownKind = 'Object';

export class WildcardResource implements Resource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly singular: string;
  /** Tenants may differ in it: then both kinds of paths lead to what there is. */
  readonly namespaced: boolean;
  readonly verbs = ['list', 'watch'];
  readonly shortNames = [];
  readonly categories = [];
  readonly subresources = [];
  /** Nothing is stored for all of them: see `placePrefix`. */
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

  /** As the server sees it. */
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

  // Nothing is written here.
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
  /** As the management plane serves a custom resource, if it does. */
  readonly known: () => Resource | undefined;
  readonly clusterName: (entry: Entry) => string;
}

/**
 * Undefined: no control plane can have such objects. A custom resource is served whether or not somebody defines it at this
 * moment: a tenant may do so the next, and who watches must not be sent away because the last one has gone.
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
  // Both are a part of a key, and nothing else of it.
  if (!groupPattern.test(group) || !labelPattern.test(version) || !labelPattern.test(resource)) return undefined;
  if (isBuiltin(group, resource)) return undefined;
  const stored = new AsStored(`${group}/${version}`, clusterName);
  return new WildcardResource({ name, storagePrefix: `${group}/${resource}`, stored, known: known() });
}

/** In another version, perhaps one that is not served: its objects are not where those of a custom resource would be. */
const isBuiltin = (group: string, resource: string): boolean =>
  builtinGroups().some(
    (one) =>
      one.name === group && one.versions.some(({ resources }) => resources.some(({ name }) => name === resource)),
  );
