/** Sends what changed to a real server and to our validation, and compares the answers. */

import { randomUUID } from 'node:crypto';
import { builtinGroups, schemaOf } from '../../../builtin/schemas.ts';
import type { BuiltinResource } from '../../../builtin/schemas.ts';
import { normalise } from '../../../fields/normalise.ts';
import type { JsonObject, KubeObject } from '../../../object.ts';
import { invalidObject } from '../../../status/status.ts';
import type { Status } from '../../../status/status.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { builtinStrategy } from '../../../strategy/index.ts';
import type { RealServer } from '../../../testing/real-server.ts';

export interface Difference {
  readonly name: string;
  readonly real: string;
  readonly ours: string;
}

export class Judge {
  readonly #server: RealServer;
  readonly #resource: BuiltinResource;
  readonly differences: Difference[] = [];
  compared = 0;
  refused = 0;

  constructor(server: RealServer, { apiVersion, kind }: JsonObject) {
    this.#server = server;
    this.#resource = resourceOf(String(apiVersion), String(kind));
  }

  get #collection(): string {
    const { group, version, name } = this.#resource;
    return `${group === '' ? '/api/v1' : `/apis/${group}/${version}`}/namespaces/default/${name}`;
  }

  /** As stored. */
  async create(object: JsonObject): Promise<KubeObject> {
    const { body } = await this.#send('POST', this.#collection, object);
    if (body['kind'] === 'Status') throw new Error(`not created: ${String(body['message'])}`);
    return body as KubeObject;
  }

  async put(object: KubeObject, subresource: string): Promise<KubeObject> {
    const path = `${this.#collection}/${object.metadata.name}${subresource && `/${subresource}`}`;
    const { body } = await this.#send('PUT', path, object);
    if (body['kind'] === 'Status') throw new Error(`not updated: ${String(body['message'])}`);
    return body as KubeObject;
  }

  async compareCreation(name: string, object: JsonObject): Promise<void> {
    const real = await this.#send('POST', `${this.#collection}?dryRun=All`, object);
    this.#compare(`create: ${name}`, real, () => {
      const ours = this.#decode(object);
      ours.metadata.uid = randomUUID();
      ours.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
      const strategy = builtinStrategy(this.#resource);
      strategy.applyDefaults(ours);
      strategy.prepareForCreate(ours);
      return { object: ours, errors: strategy.validateCreate(ours), warnings: () => strategy.warningsOnCreate(ours) };
    });
  }

  async compareUpdate(name: string, object: JsonObject, old: KubeObject, subresource = ''): Promise<void> {
    const path = `${this.#collection}/${old.metadata.name}${subresource && `/${subresource}`}`;
    const real = await this.#send('PUT', `${path}?dryRun=All`, object);
    this.#compare(`update ${subresource}: ${name}`, real, () => {
      const ours = this.#decode(object);
      const strategy = builtinStrategy(this.#resource);
      strategy.applyDefaults(ours);
      strategy.prepareForUpdate(ours, old, subresource);
      const warnings = (): readonly string[] => (subresource === '' ? strategy.warningsOnUpdate(ours, old) : []);
      return { object: ours, errors: strategy.validateUpdate(ours, old, subresource), warnings };
    });
  }

  #decode(object: JsonObject): KubeObject {
    const { apiVersion, kind } = object;
    return normalise(schemaOf(String(apiVersion), String(kind))!, object) as KubeObject;
  }

  #compare(name: string, { body, warnings }: RealAnswer, validate: () => Verdict): void {
    const isRefusal = body['kind'] === 'Status';
    // Others than 422 are refused before validation, or by admission after it.
    if (isRefusal && body['code'] !== 422) return;
    this.compared++;
    if (isRefusal) this.refused++;
    const verdict = validate();
    const { group, kind } = this.#resource;
    const objectName = verdict.object.metadata.name ?? '';
    const ours =
      verdict.errors.length > 0
        ? textOf(invalidObject({ group, kind }, objectName, verdict.errors).status)
        : ['valid', ...new Set(verdict.warnings())].join('\n');
    const real = isRefusal ? textOf(body as unknown as Status) : ['valid', ...warnings].join('\n');
    if (real !== ours) this.differences.push({ name: `${kind} ${name}`, real, ours });
  }

  async #send(method: string, path: string, body: JsonObject): Promise<RealAnswer> {
    // The real server panics over some objects, such as a success policy without completions, and hangs up.
    const answer = await this.#server.request(method, path, { body: JSON.stringify(body) }).catch(() => undefined);
    if (!answer) return { body: { kind: 'Status', code: 500 }, warnings: [] };
    const text = String(answer.headers['warning'] ?? '');
    return { body: JSON.parse(answer.body.toString()) as JsonObject, warnings: warningTexts(text) };
  }
}

interface RealAnswer {
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

interface Verdict {
  readonly object: KubeObject;
  readonly errors: FieldError[];
  readonly warnings: () => readonly string[];
}

/** `299 - "one", 299 - "two"`. */
const warningTexts = (header: string): string[] =>
  [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));

/** Generated names differ, and decoded objects no longer tell an empty list or map from none. */
const textOf = ({ message, details }: Status): string =>
  [message, ...(details?.causes ?? []).map((cause) => JSON.stringify(cause))]
    .join('\n')
    .replaceAll('Invalid value: {}: `selector` does not match', 'Invalid value: null: `selector` does not match')
    .replace(/(\\?":\s?)(?:\[\]|\{\})/g, '$1null')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>');

function resourceOf(apiVersion: string, kind: string): BuiltinResource {
  for (const { name: group, versions } of builtinGroups()) {
    for (const { name: version, resources } of versions) {
      if ((group === '' ? version : `${group}/${version}`) !== apiVersion) continue;
      const found = resources.find((one) => one.kind === kind);
      if (found) return found;
    }
  }
  throw new Error(`no resource ${apiVersion} ${kind}`);
}
