/**
 * The inventory of addon objects in a control plane, in its ConfigMap kplane-system/addons: objects that are no longer in an addon or class
 * can be deleted. Written before the objects: every existing object is listed.
 */

import { find } from '@hangar/client';
import type { Client, KindNames, WriteOptions } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { isObject } from '@hangar/api/json';
import type { Writes } from '../control-plane/writes.ts';
import { systemNamespace } from '../kubeconfig/auth.ts';

/** Enough to delete the object without discovery. */
export interface Item extends KindNames {
  readonly namespace?: string;
  readonly name: string;
  readonly addon: string;
}

/** Objects of addons before and after a change. The administrator of the control plane may write any number of lines. */
const itemsMax = 2 * 1024;

const key = { namespace: systemNamespace, name: 'addons' };

export const itemId = ({ apiVersion, kind, namespace = '', name }: Omit<Item, 'addon'>): string =>
  // Versions of one group are the same object.
  [apiVersion.includes('/') ? apiVersion.split('/')[0] : '', kind, namespace, name].join('|');

export class Inventory {
  readonly #client: Client;
  readonly #writes: Writes;
  readonly #options: WriteOptions;
  #written: string | undefined;

  constructor(client: Client, writes: Writes, options: WriteOptions) {
    this.#client = client;
    this.#writes = writes;
    this.#options = options;
  }

  /** Returns the current list. An invalid list counts as empty: nothing is deleted because of it. */
  async read(): Promise<Item[]> {
    const found = await find(this.#client, ConfigMap, key, { signal: this.#options.signal });
    this.#written = found?.data?.['objects'];
    return itemsIn(this.#written);
  }

  async write(items: readonly Item[]): Promise<void> {
    const objects = textOf(items);
    if (objects === this.#written) return;
    const body = { data: { objects } };
    await this.#writes.make('inside.addons', async () => {
      try {
        await this.#client.create(ConfigMap, { metadata: { ...key }, ...body }, this.#options);
      } catch (error) {
        if (!hasCode(error, 'AlreadyExists')) throw error;
        await this.#client.patch(ConfigMap, key, { type: 'merge', body }, this.#options);
      }
    });
    this.#written = objects;
  }
}

const textOf = (items: readonly Item[]): string =>
  items
    .map(({ addon, apiVersion, kind, plural, isNamespaced, namespace, name }) =>
      JSON.stringify({
        addon,
        apiVersion,
        kind,
        plural,
        isNamespaced,
        ...(namespace === undefined ? {} : { namespace }),
        name,
      }),
    )
    .sort()
    .map((line) => `${line}\n`)
    .join('');

function itemsIn(text: string | undefined): Item[] {
  const lines = (text ?? '').split('\n', itemsMax);
  return lines.flatMap((line): Item[] => {
    try {
      const item = JSON.parse(line) as unknown;
      return isObject(item) && isItem(item) ? [item as unknown as Item] : [];
    } catch {
      return [];
    }
  });
}

/** Reports whether the text is a valid path segment, as Kubernetes requires for names of any kind. */
export const isSegment = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);

const isItem = ({ apiVersion, kind, plural, name, namespace, isNamespaced }: Record<string, unknown>): boolean =>
  typeof kind === 'string' &&
  isSegment(name) &&
  (isNamespaced === true ? isSegment(namespace) : namespace === undefined) &&
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[a-z0-9]+)?$/.test(String(apiVersion)) &&
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(String(plural)) &&
  typeof isNamespaced === 'boolean';
