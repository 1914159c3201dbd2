/**
 * What addons have put into a control plane, in ConfigMap kplane-system/addons of its own: so that what is no longer in an addon, or
 * in a class, goes. Written before the objects are: what is there is always listed.
 */

import { find } from '@hangar/client';
import type { Client, KindNames, WriteOptions } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { isObject } from '@hangar/api/json';
import type { Writes } from '../control-plane/writes.ts';
import { systemNamespace } from '../kubeconfig/auth.ts';

/** Enough to delete it without asking what it is. */
export interface Item extends KindNames {
  readonly namespace?: string;
  readonly name: string;
  readonly addon: string;
}

/** The addons' own, before and after a change. The control plane's administrator may write any number of lines. */
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

  /** What is listed now. A list that somebody has spoilt is none: nothing is deleted because of it. */
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

/** What can be one segment of a path, as Kubernetes has it for names of any kind. */
export const isSegment = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);

const isItem = ({ apiVersion, kind, plural, name, namespace, isNamespaced }: Record<string, unknown>): boolean =>
  typeof kind === 'string' &&
  isSegment(name) &&
  (isNamespaced === true ? isSegment(namespace) : namespace === undefined) &&
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[a-z0-9]+)?$/.test(String(apiVersion)) &&
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(String(plural)) &&
  typeof isNamespaced === 'boolean';
