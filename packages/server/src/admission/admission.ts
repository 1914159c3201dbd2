/**
 * The gate between a decoded write and the store. Plugins are asked in order: first those that may change the object, then,
 * when it has its final form, those that may only refuse it.
 */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../control-plane.ts';
import type { Guard } from '../auth/guard.ts';
import type { User } from '../auth/user.ts';
import type { Resource } from '../resources/resource.ts';

export interface AdmissionRequest {
  readonly plane: ControlPlane;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent for deletions. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly user: User;
  /** For plugins that ask what the user may do besides. */
  readonly guard: Guard;
  readonly isDryRun: boolean;
  warn(text: string): void;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** May change `object`; throws a StatusError to refuse. */
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
  /** Stops following what it follows. */
  close?(): void;
}

export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = plugins.filter((plugin) => plugin.mutate);
    this.#validating = plugins.filter((plugin) => plugin.validate);
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#mutating) await plugin.mutate!(request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#validating) await plugin.validate!(request);
  }

  close(): void {
    for (const plugin of this.#plugins) plugin.close?.();
  }
}
