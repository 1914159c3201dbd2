/** Reads the generated table, which takes about two milliseconds. Its entries are not expanded here. */

import { readFileSync } from 'node:fs';

export interface Table {
  /** The Kubernetes release that it was generated from. */
  readonly release: string;
  /** In the order of discovery. */
  readonly groups: readonly GroupRow[];
  readonly packages: Readonly<Record<string, PackageRow>>;
}

export interface GroupRow {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly {
    readonly name: string;
    readonly package: string;
    readonly resources: readonly ResourceRow[];
  }[];
}

export interface SubresourceRow {
  /** `pods`, or `status`. */
  readonly name: string;
  /** `Pod`, or `<group>/<version>/<kind>` when it is of another group-version. */
  readonly kind: string;
  /** Joined by commas; absent: all eight. */
  readonly verbs?: string;
}

export interface ResourceRow extends SubresourceRow {
  /** Absent: the kind in lower case. */
  readonly singular?: string;
  readonly namespaced?: boolean;
  readonly shortNames?: string;
  readonly categories?: string;
  /** The group-version that objects are stored in; absent for resources that are not stored. */
  readonly stored?: string;
  readonly prefix?: string;
  /** `name:type:format:priority;…`, without trailing default values. */
  readonly columns?: string;
  readonly subresources?: readonly SubresourceRow[];
}

export interface PackageRow {
  /** Absent for packages of named types only. */
  readonly group?: string;
  /** Prefix of its schemas in OpenAPI documents. */
  readonly openApi?: string;
  /** Name → notation. */
  readonly types: Readonly<Record<string, string>>;
}

export const table = JSON.parse(readFileSync(new URL('./table.json', import.meta.url), 'utf8')) as Table;
