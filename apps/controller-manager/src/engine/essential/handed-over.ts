/**
 * Which control planes are left to controllers from outside, and on whose behalf: what the Tenants say, by the object that asked for
 * it. Should two Tenants name the same object, the first one has it; the other has it when the first no longer does.
 */

import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation, externalControllers } from '@hangar/controllers';
import type { SourceObject } from '../../contract.ts';

/** As a Tenant names it. */
export const keyOfSource = ({ kind, name }: Pick<SourceObject, 'kind' | 'name'>): string =>
  kind === 'ControlPlaneEndpoint' ? `endpoint/${name}` : name;

export class HandedOver {
  /** Key of the object → path of the Tenant. */
  readonly #paths = new Map<string, string>();
  /** Path of the Tenant → key of the object. */
  readonly #keys = new Map<string, string>();
  readonly #suspended = new Set<string>();

  pathOf(key: string): string | undefined {
    return this.#paths.get(key);
  }

  /** Undefined: it is not left to others, or another Tenant was before it. */
  keyOf(path: string): string | undefined {
    const key = this.#keys.get(path);
    return key !== undefined && this.#paths.get(key) === path ? key : undefined;
  }

  isSuspended(path: string): boolean {
    return this.#suspended.has(path);
  }

  /** Answers keys whose control plane is another now, or is in another state. */
  put(path: string, tenant: KubeObject): readonly string[] {
    const { suspension } = (tenant as { spec?: { suspension?: unknown } }).spec ?? {};
    if (typeof suspension === 'string' && suspension !== '') this.#suspended.add(path);
    else this.#suspended.delete(path);
    const { [controllersAnnotation]: controllers, [controllersByAnnotation]: by } = tenant.metadata.annotations ?? {};
    const now = controllers === externalControllers && by ? by : undefined;
    const before = this.#keys.get(path);
    if (before === now) return now === undefined ? [] : [now];
    if (before !== undefined) this.#leave(path, before);
    if (now !== undefined) {
      this.#keys.set(path, now);
      if (!this.#paths.has(now)) this.#paths.set(now, path);
    }
    return [before, now].filter((key) => key !== undefined);
  }

  /** Answers as `put` does. */
  delete(path: string): readonly string[] {
    const before = this.#keys.get(path);
    this.#suspended.delete(path);
    if (before === undefined) return [];
    this.#leave(path, before);
    return [before];
  }

  clear(): void {
    this.#paths.clear();
    this.#keys.clear();
    this.#suspended.clear();
  }

  #leave(path: string, key: string): void {
    this.#keys.delete(path);
    if (this.#paths.get(key) !== path) return;
    this.#paths.delete(key);
    const heir = this.#keys.entries().find(([, one]) => one === key);
    if (heir) this.#paths.set(key, heir[0]);
  }
}
