/** kube-apiserver's EncryptionConfiguration: maps resources to encryption keys. */

import type { Random } from '@hangar/core';
import { keyResources } from '../resources/key-resource.ts';
import type { GroupResource } from '../resources/key-resource.ts';
import { isKeysKey, unstagedKey } from '../tenancy/layout.ts';
import { parseStrictly, unknownFields } from '../strict-configuration.ts';
import type { TransformerOf } from './encrypted-store.ts';
import { provider, secretLengths } from './provider.ts';
import type { Provider, ProviderName } from './provider.ts';
import { identity, Transformer } from './transformer.ts';

/** Error in a configuration, for its author. */
export class EncryptionConfigurationError extends Error {}

interface Rule {
  /** `secrets`, `widgets.example.com`, `*.example.com`, `*.`, `*.*`. */
  readonly resources: readonly string[];
  readonly transformer: Transformer;
}

/** Limits the cache to about the number of resources, even when resources come and go. */
const knownMax = 10_000;

/** Keys of tenants are encrypted wherever secrets are: with them a client can impersonate every user of the tenant. */
const secrets: GroupResource = { group: '', resource: 'secrets' };

/** `prefix` is the prefix of the store: keys are `<prefix>/clusters/<path>/<resource>/…`. Throws EncryptionConfigurationError. */
export function encryptionOf(text: string, prefix: string, random: Random): TransformerOf {
  const rules = readRules(text, random);
  const resourceOf = keyResources(prefix);
  const known = new Map<GroupResource, Transformer | undefined>();
  return (stored) => {
    const key = unstagedKey(prefix, stored);
    const resource = isKeysKey(prefix, key) ? secrets : resourceOf(key);
    if (!resource) return undefined;
    if (known.has(resource)) return known.get(resource);
    const found = rules.find(({ resources }) => resources.some((one) => matches(one, resource)))?.transformer;
    if (known.size >= knownMax) known.clear();
    known.set(resource, found);
    return found;
  };
}

function matches(pattern: string, { group, resource }: GroupResource): boolean {
  if (pattern === '*.*') return true;
  const dot = pattern.indexOf('.');
  const [wanted, wantedGroup] = dot < 0 ? [pattern, ''] : [pattern.slice(0, dot), pattern.slice(dot + 1)];
  return wantedGroup === group && (wanted === '*' || wanted === resource);
}

function readRules(text: string, random: Random): Rule[] {
  const { apiVersion, kind, resources } = fieldsAt(
    parseStrictly(text, (reason) => fault('', reason)),
    '',
    ['apiVersion', 'kind', 'resources'],
  );
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || kind !== 'EncryptionConfiguration') {
    throw fault('', 'must be an EncryptionConfiguration of apiserver.config.k8s.io/v1');
  }
  return nonEmpty(resources, 'resources').map((rule, place) => {
    const at = `resources[${place}]`;
    const { resources: names, providers } = fieldsAt(rule, at, ['resources', 'providers']);
    return {
      resources: nonEmpty(names, `${at}.resources`).map((name, index) => textAt(name, `${at}.resources[${index}]`)),
      transformer: new Transformer(
        nonEmpty(providers, `${at}.providers`).flatMap((one, index) => readProvider(one, `${at}.providers[${index}]`)),
        random,
      ),
    };
  });
}

function readProvider(value: unknown, at: string): (Provider | typeof identity)[] {
  const entries = Object.entries(objectAt(value, at));
  const [first] = entries;
  if (!first || entries.length > 1) throw fault(at, 'must have exactly one provider');
  const [name, options] = first;
  if (name === identity) {
    void fieldsAt(options, `${at}.${name}`, []);
    return [identity];
  }
  if (!Object.hasOwn(secretLengths, name)) {
    throw fault(at, `${name} is not one of identity, ${Object.keys(secretLengths).join(', ')}`);
  }
  const { keys } = fieldsAt(options, `${at}.${name}`, ['keys']);
  return nonEmpty(keys, `${at}.${name}.keys`).map((key, index) =>
    readKey(name as ProviderName, key, `${at}.${name}.keys[${index}]`),
  );
}

function readKey(name: ProviderName, value: unknown, at: string): Provider {
  const { name: keyName, secret: encoded } = fieldsAt(value, at, ['name', 'secret']);
  const key = textAt(keyName, `${at}.name`);
  if (key.includes(':')) throw fault(`${at}.name`, 'must not contain a colon');
  const secret = Buffer.from(textAt(encoded, `${at}.secret`), 'base64');
  const lengths = secretLengths[name];
  if (!lengths.includes(secret.length)) {
    throw fault(`${at}.secret`, `must be ${lengths.join(' or ')} bytes in base64, not ${secret.length}`);
  }
  return provider(name, { name: key, secret });
}

function objectAt(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault(at, 'must be an object');
  return value as Record<string, unknown>;
}

/** Returns an object that has only known fields. */
function fieldsAt(value: unknown, at: string, known: readonly string[]): Record<string, unknown> {
  const object = objectAt(value, at);
  const [unknown] = unknownFields(at, object, known);
  if (unknown !== undefined) throw fault(unknown, 'unknown field');
  return object;
}

function textAt(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') throw fault(at, 'must be a string');
  return value;
}

function nonEmpty(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw fault(at, 'must have at least one element');
  return value;
}

const fault = (at: string, rule: string): EncryptionConfigurationError =>
  new EncryptionConfigurationError(at === '' ? rule : `${at}: ${rule}`);
