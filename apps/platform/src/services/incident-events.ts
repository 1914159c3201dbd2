/** Events about tenants that stalled or ended the server, on their control planes: `kubectl describe controlplane` shows them. */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { annotations, ControlPlane, Tenant } from '@hangar/controlplane-operator';
import type { Logger } from '@hangar/core';
import { EventRecorder } from '@hangar/runtime';
import type { TenantIncident } from '@hangar/server/watchdog';

export interface IncidentEventsOptions {
  /** Of the management plane. */
  readonly client: Client;
  readonly log: Logger;
}

export class IncidentEvents {
  readonly #options: IncidentEventsOptions;
  readonly #recorder: EventRecorder;

  constructor(options: IncidentEventsOptions) {
    this.#options = options;
    this.#recorder = new EventRecorder({ component: 'hangar-watchdog', log: options.log });
  }

  /** Never rejects. A tenant that belongs to no control plane has no object for an Event. */
  async record({ tenant, reason, message }: TenantIncident): Promise<void> {
    const { client, log } = this.#options;
    try {
      const found = await find(client, Tenant, { name: tenant });
      const name = found?.metadata.annotations?.[annotations.name];
      const controlPlane = name === undefined ? undefined : await find(client, ControlPlane, { name });
      if (!controlPlane || controlPlane.metadata.uid !== found?.metadata.annotations?.[annotations.uid]) return;
      this.#recorder.for(this.#options).warning(controlPlane, reason, message);
    } catch (error) {
      log.debug('failed to record an Event', { tenant, reason, error: error as Error });
    }
  }

  close(): Promise<void> {
    return this.#recorder.close(closeMs);
  }
}

const closeMs = 1_000;
