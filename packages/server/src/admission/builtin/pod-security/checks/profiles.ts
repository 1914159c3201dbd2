/** AppArmor and seccomp profiles, set by fields or by the older annotations. */

import { quote } from '@hangar/api';
import { allContainers } from '../../pod.ts';
import { containersText, namesOf, plural, quoted, settersOf, sorted } from './check.ts';
import type { Check } from './check.ts';

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const confined: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost']);

const isAppArmorText = (text: string): boolean =>
  text === '' || text === 'runtime/default' || text.startsWith('localhost/');

export const appArmorProfile: Check = (spec, { annotations }) => {
  const types = new Set<string>();
  const setters = settersOf(spec, ({ appArmorProfile: profile }) => {
    if (!profile || confined.has(profile.type ?? '')) return false;
    types.add(profile.type ?? '');
    return true;
  });
  const annotated = Object.entries(annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAppArmorText(value))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .sort();
  if (annotated.length > 0) setters.push(plural('annotation', 'annotations', annotated.length));
  if (setters.length === 0) return undefined;
  const values = [...sorted(types), ...annotated];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/';

const isSeccompText = (text: string): boolean =>
  text === 'runtime/default' || text === 'docker/default' || text.startsWith('localhost/');

export const baselineSeccompAnnotations: Check = (spec, { annotations = {} }) => {
  const keys = [seccompPod, ...[...allContainers(spec)].map(({ name = '' }) => seccompPrefix + name)];
  const bad = new Set<string>();
  for (const key of keys) {
    const value = Object.hasOwn(annotations ?? {}, key) ? annotations[key] : undefined;
    if (value !== undefined && !isSeccompText(value)) bad.add(`${key}=${quote(value)}`);
  }
  if (bad.size === 0) return undefined;
  const what = plural('annotation', 'annotations', bad.size);
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${sorted(bad).join(', ')}` };
};

export const baselineSeccompProfile: Check = (spec) => {
  const types = new Set<string>();
  const setters = settersOf(spec, ({ seccompProfile: profile }) => {
    if (!profile || confined.has(profile.type ?? '')) return false;
    types.add(profile.type ?? '');
    return true;
  });
  if (setters.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`,
  };
};

/** Requires a seccomp profile for every container, in addition to the baseline check. */
export const restrictedSeccompProfile: Check = (spec, metadata) => {
  const forbidden = baselineSeccompProfile(spec, metadata);
  if (forbidden || spec.securityContext?.seccompProfile) return forbidden;
  const bad = namesOf(spec, ({ securityContext }) => !securityContext?.seccompProfile);
  if (bad.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};
