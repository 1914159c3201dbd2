/** Parses the labels of a namespace: the level and version of the rules that are enforced, warned about and audited. */

import { invalid, key } from '@hangar/api';
import type { FieldError } from '@hangar/api';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  readonly level: Level;
  /** Minor version of Kubernetes 1. */
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

/** Reports whether `a` is stricter than `b`. */
export const isStricter = (a: Level, b: Level): boolean => levels.indexOf(a) > levels.indexOf(b);

export function readPolicy(labels: Readonly<Record<string, string>> | null | undefined): ReadPolicy {
  if (!labels || !Object.keys(labels).some((name) => name.startsWith(prefix))) return unlabelled;
  const errors: FieldError[] = [];
  const fault = (name: string, value: string, detail: string): void => {
    errors.push(invalid(key('metadata.labels', name), value, detail));
  };
  /** An unknown level counts as `otherwise`: the strictest level for `enforce`, the most permissive for `warn` and `audit`. */
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
  // Controllers create pods later, so an enforced level also sets the default warn level.
  if (warnLevel === undefined && isEnforced && isStricter(enforce.level, warn.level)) {
    warn = { level: enforce.level, version: warnVersion ?? enforce.version };
  }
  return { enforce, audit, warn, errors };
}
