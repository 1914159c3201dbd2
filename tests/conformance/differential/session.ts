/** Runs a sequence on one server: fills in placeholders, records the values that the server chose, and returns comparable outcomes. */

import { isObject, parseYaml } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Client, Received } from './client.ts';
import { mergeInto } from './merge.ts';
import { Normaliser } from './normalise.ts';
import type { Step } from './step.ts';

export interface Outcome {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

interface Seen {
  readonly firstVersion: string;
  version: string;
  uid: string;
}

const headers = { 'user-agent': 'differential/1.0' };

export class Session {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #normaliser: Normaliser;
  readonly #seen = new Map<string, Seen>();
  /** A version from before the sequence, for objects that were never seen. */
  #before = '1';

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#normaliser = new Normaliser(namespace);
  }

  async begin(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } };
    const { status, text } = await this.#client.send({
      method: 'POST',
      target: '/api/v1/namespaces',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
    if (status !== 201) throw new Error(`${this.#client.name}: no namespace for the sequence: ${text}`);
    this.#before = (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  }

  /** Deletes objects that would use up a server's addresses and ports. */
  async end(): Promise<void> {
    const services = `/api/v1/namespaces/${this.#namespace}/services`;
    const options = JSON.stringify({ gracePeriodSeconds: 0 });
    const type = { ...headers, 'content-type': 'application/json' };
    await this.#client.send({ method: 'DELETE', target: services, headers: type, body: options });
  }

  async run(step: Step): Promise<Outcome> {
    const body = await this.#body(step);
    const query = new URLSearchParams(
      Object.entries(step.query).map(([name, value]) => [name, this.#fill(value, step.object)]),
    ).toString();
    const path = this.#fill(step.path, step.object);
    const received = await this.#client.send({
      method: step.method,
      target: query === '' ? path : `${path}?${query}`,
      headers: {
        ...headers,
        accept: step.accept ?? 'application/json',
        ...(body === undefined ? {} : { 'content-type': step.contentType ?? 'application/json' }),
      },
      body,
    });
    return this.#outcome(step, received);
  }

  #outcome(step: Step, { status, contentType, warnings, text }: Received): Outcome {
    const value = parsed(text, contentType);
    this.#remember(step.object, value);
    return {
      status,
      contentType,
      warnings: warnings.map((warning) => this.#normaliser.text(warning)),
      body: this.#normaliser.value(value),
    };
  }

  async #body({ body, object }: Step): Promise<string | undefined> {
    switch (body?.type) {
      case undefined:
        return undefined;
      case 'json':
        return this.#fill(JSON.stringify(body.value), object);
      case 'text':
        return this.#fill(body.text, object);
      case 'live': {
        const live = await this.#client.send({ method: 'GET', target: this.#fill(object, object), headers });
        const value = live.status === 200 ? (JSON.parse(live.text) as JsonObject) : {};
        this.#remember(object, value);
        return JSON.stringify(mergeInto(value, JSON.parse(this.#fill(JSON.stringify(body.change), object))));
      }
    }
  }

  #fill(text: string, object: string): string {
    if (!text.includes('{')) return text;
    const seen = this.#seen.get(object);
    return text
      .replaceAll('{ns}', this.#namespace)
      .replaceAll('{rv}', seen?.version ?? this.#before)
      .replaceAll('{rv0}', seen?.firstVersion ?? this.#before)
      .replaceAll('{uid}', seen?.uid ?? 'none');
  }

  #remember(object: string, value: unknown): void {
    const metadata = isObject(value) ? value['metadata'] : undefined;
    if (!isObject(metadata)) return;
    const { resourceVersion: version, uid } = metadata;
    if (typeof version !== 'string' || typeof uid !== 'string') return;
    const seen = this.#seen.get(object);
    if (seen) Object.assign(seen, { version, uid });
    else this.#seen.set(object, { firstVersion: version, version, uid });
  }
}

/** Parses YAML: the line breaks of the two emitters may differ. */
function parsed(text: string, contentType: string): unknown {
  const isYaml = contentType.includes('yaml');
  if (!isYaml && !contentType.includes('json')) return text;
  try {
    return isYaml ? parseYaml(Buffer.from(text)).value : JSON.parse(text);
  } catch {
    return `not ${contentType}: ${text}`;
  }
}
