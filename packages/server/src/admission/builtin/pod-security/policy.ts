/** What a namespace's labels say: at which level, in which version of the rules, pods are refused, warned about, audited. */

import { invalid, key } from '@hangar/api';
import type { FieldError } from '@hangar/api';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  readonly level: Level;
  /** The minor version of Kubernetes 1. */
  readonly version: number | 'latest';
}

export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export interface ReadPolicy extends Policy {
  readonly errors: readonly FieldError[];
}

const prefix = 'pod-security.kubernetes.io/';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const anything: LevelVersion = { level: 'privileged', version: 'latest' };
const unlabelled: ReadPolicy = { enforce: anything, audit: anything, warn: anything, errors: [] };

export const levelText = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`;

export const isSame = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.version === b.version;

/** Is `a` stricter than `b`? */
export const isStricter = (a: Level, b: Level): boolean => levels.indexOf(a) > levels.indexOf(b);

export function readPolicy(labels: Readonly<Record<string, string>> | null | undefined): ReadPolicy {
  if (!labels || !Object.keys(labels).some((name) => name.startsWith(prefix))) return unlabelled;
  const errors: FieldError[] = [];
  const fault = (name: string, value: string, detail: string): void => {
    errors.push(invalid(key('metadata.labels', name), value, detail));
  };
  /** A level that nobody knows: refusing is strict about it, warning and auditing leave it. */
  const levelAt = (mode: string, otherwise: Level): Level | undefined => {
    const name = prefix + mode;
    const value = labels[name];
    if (value === undefined || levels.includes(value as Level)) return value as Level | undefined;
    fault(name, value, `must be one of ${levels.join(', ')}`);
    return otherwise;
  };
  const versionAt = (mode: string): LevelVersion['version'] | undefined => {
    const name = `${prefix}${mode}-version`;
    const value = labels[name];
    if (value === undefined || value === 'latest') return value;
    const minor = /^v1\.(\d|[1-9]\d*)$/.exec(value)?.[1];
    if (minor !== undefined && Number.isSafeInteger(Number(minor))) return Number(minor);
    fault(name, value, 'must be "latest" or "v1.x"');
    return 'latest';
  };
  const enforceLevel = levelAt('enforce', 'restricted');
  const isEnforced = enforceLevel !== undefined && errors.length === 0;
  const enforce: LevelVersion = { level: enforceLevel ?? 'privileged', version: versionAt('enforce') ?? 'latest' };
  const audit: LevelVersion = {
    level: levelAt('audit', 'privileged') ?? 'privileged',
    version: versionAt('audit') ?? 'latest',
  };
  const warnLevel = levelAt('warn', 'privileged');
  const warnVersion = versionAt('warn');
  let warn: LevelVersion = { level: warnLevel ?? 'privileged', version: warnVersion ?? 'latest' };
  // Whoever enforces is also told by controllers what would be refused later.
  if (warnLevel === undefined && isEnforced && isStricter(enforce.level, warn.level)) {
    warn = { level: enforce.level, version: warnVersion ?? enforce.version };
  }
  return { enforce, audit, warn, errors };
}
