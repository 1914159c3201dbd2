/**
 * Normalises values that may differ between two servers with the same behaviour. A revision becomes its number in the order in which the
 * sequence saw it, so that an unexpected or missing write is still detected.
 */

import { isObject } from '@hangar/api';

const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const timeWithFractions = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g;
const recentTime = /\b202[5-9]-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
/** Sequences use `gen-` as generateName, so that a generated suffix can be recognised. */
const generated = /\bgen-[a-z0-9]{5}\b/g;
/** Allocated at random from each server's range. */
const clusterAddress = /\b10\.0\.0\.\d+\b/g;
const portNames = new Set(['nodePort', 'healthCheckNodePort']);

export class Normaliser {
  readonly #namespace: string;
  readonly #versions = new Map<string, string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  text(text: string): string {
    return text
      .replaceAll(this.#namespace, '<ns>')
      .replace(uid, '<uid>')
      .replace(timeWithFractions, '<time with fractions>')
      .replace(recentTime, '<time>')
      .replace(generated, 'gen-<random>')
      .replace(clusterAddress, '<cluster address>')
      .replace(/(?<=resourceVersion\\?":\\?")\d+/g, '<revision>')
      .replace(/(?<=resource version: )\d+, current: \d+/g, '<revision>')
      .replace(/(?<=resourceVersion:)\d+/g, '<revision>')
      .replace(/(?<=in (the precondition|record) \()\d+/g, '<revision>')
      .replace(/(?<=nodePort\\?":)3[0-2]\d{3}/gi, '<node port>');
  }

  value(value: unknown): unknown {
    return this.#value(value, '');
  }

  #value(value: unknown, key: string): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#value(one, key));
    if (isObject(value)) {
      const isList = Array.isArray(value['items']) && isObject(value['metadata']);
      const entries = Object.entries(value).map(([name, one]): [string, unknown] =>
        isList && name === 'metadata' ? [name, listMetadata(one)] : [this.text(name), this.#value(one, name)],
      );
      return Object.fromEntries(entries);
    }
    if (key === 'resourceVersion' && typeof value === 'string') return this.#version(value);
    if (portNames.has(key) && typeof value === 'number' && value >= 30_000) return '<node port>';
    return typeof value === 'string' ? this.text(value) : value;
  }

  #version(version: string): string {
    if (version === '' || version === '0') return version;
    let name = this.#versions.get(version);
    if (name === undefined) this.#versions.set(version, (name = `<revision ${this.#versions.size + 1}>`));
    return name;
  }
}

/** A list has the revision of its server's last write, which may come from any client. */
function listMetadata(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata;
  const { resourceVersion, continue: token, ...rest } = metadata;
  return {
    ...rest,
    ...(resourceVersion === undefined ? {} : { resourceVersion: '<revision>' }),
    ...(token === undefined ? {} : { continue: token && '<token>' }),
  };
}
