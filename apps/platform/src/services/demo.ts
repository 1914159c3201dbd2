/**
 * The first control plane, `demo`: created at the first start. Its kubeconfig is kept in a file for as long as it exists. It is not
 * recreated after a deletion.
 */

import { rm } from 'node:fs/promises';
import { find, hasCode } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { ControlPlane, kubeconfigSecretName, managementNamespace } from '@hangar/controlplane-operator';
import { sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { writeKubeconfigFile } from '../compose/kubeconfig-file.ts';
import type { FirstStart } from '../compose/first-start.ts';

export const demoName = 'demo';
const key = { name: demoName };
const secretKey = { namespace: managementNamespace(demoName), name: kubeconfigSecretName(demoName) };
/** Pause after a watch has ended. */
const pauseMs = 1_000;
const kubeconfigPauseMs = 50;

export interface DemoOptions {
  /** Of the management plane. */
  readonly client: Client;
  readonly firstStart: FirstStart;
  /** Address of control planes: at another port than last time, the address of `demo` changes. */
  readonly url: string;
  /** File of its kubeconfig. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
}

type Kubeconfig = string | undefined;

export class Demo {
  readonly #options: DemoOptions;
  #written: Kubeconfig;

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  /** Called after the definitions are installed. False: there is none, and none is to be created. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { client, firstStart } = this.#options;
    if (firstStart.isPending) {
      try {
        await client.create(ControlPlane, { metadata: key, spec: {} }, { signal });
      } catch (error) {
        // Created by a start that was interrupted afterwards.
        if (!hasCode(error, 'AlreadyExists')) throw error;
      }
      await firstStart.done();
      return true;
    }
    const known = await find(client, ControlPlane, key, { signal });
    return known !== undefined && known.metadata.deletionTimestamp === undefined;
  }

  /** Resolves with true when it is ready and its kubeconfig is written; rejects with `Aborted`. False: it was deleted meanwhile. */
  async usable(signal: AbortSignal): Promise<boolean> {
    const { client, clock, url } = this.#options;
    for (;;) {
      const found = await find(client, ControlPlane, key, { signal });
      if (!found) return false;
      if (isReady(found, url)) {
        if (await this.#keep(found, signal)) return true;
        // The status can have the new address a moment before the kubeconfig.
        await sleep(clock, kubeconfigPauseMs, signal);
        continue;
      }
      if (!(await this.#untilReady(found, signal))) await sleep(clock, pauseMs, signal);
    }
  }

  /** Returns false if the watch ended before. The caller reads the object again, also after a deletion. */
  async #untilReady({ metadata: { resourceVersion } }: ControlPlane, signal: AbortSignal): Promise<boolean> {
    const { client, url } = this.#options;
    for await (const event of client.watch(ControlPlane, { ...named(demoName), resourceVersion, signal })) {
      if (event.type === 'DELETED') return true;
      if (event.type !== 'BOOKMARK' && isReady(event.object, url)) return true;
    }
    return false;
  }

  /** Keeps the file equal to the Secret, which is renewed before it expires. Runs until the signal; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await client.list(Secret, { ...secretNamed, signal });
        await this.#write(kubeconfigIn(items[0]));
        for await (const event of client.watch(Secret, { ...secretNamed, resourceVersion, signal })) {
          if (event.type !== 'BOOKMARK') {
            await this.#write(event.type === 'DELETED' ? undefined : kubeconfigIn(event.object));
          }
        }
      } catch (error) {
        if (!signal.aborted && !hasCode(error, 'Expired')) {
          log.warn('failed to watch the kubeconfig of demo, retrying', { error: error as Error });
        }
      }
      await sleep(clock, pauseMs, signal).catch(() => undefined);
    }
  }

  async #keep({ spec }: ControlPlane, signal: AbortSignal): Promise<boolean> {
    const { client, url } = this.#options;
    const text = kubeconfigIn(await find(client, Secret, secretKey, { signal }));
    if (text === undefined || (!isElsewhere(spec) && !text.includes(`${url}/`))) return false;
    await this.#write(text);
    return true;
  }

  async #write(text: Kubeconfig): Promise<void> {
    if (text === this.#written) return;
    const { file } = this.#options;
    if (text === undefined) await rm(file, { force: true });
    else await writeKubeconfigFile(file, text);
    this.#written = text;
  }
}

const named = (name: string) => ({ fieldSelector: { 'metadata.name': name } });
const secretNamed = { namespace: secretKey.namespace, ...named(secretKey.name) };

const kubeconfigIn = (secret: Secret | undefined): Kubeconfig => {
  const encoded = secret?.data?.['kubeconfig'];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
};

function isReady({ metadata, spec, status }: ControlPlane, url: string): boolean {
  if (findCondition(status?.conditions, 'Ready')?.status !== 'True') return false;
  if (status?.observedGeneration !== metadata.generation) return false;
  // At this address, and not at that of an earlier start.
  return isElsewhere(spec) || (status?.endpoint?.startsWith(`${url}/`) ?? false);
}

/** Whether a user configured an address. */
const isElsewhere = ({ endpointRef, endpointPolicy, classRef }: ControlPlane['spec']): boolean =>
  (endpointRef ?? endpointPolicy ?? classRef) !== undefined;
