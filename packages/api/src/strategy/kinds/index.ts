/** The rules of every served kind that differs from the usual, by `group/Kind`; the core group has none. */

import type { KindRules } from '../rules.ts';
import { configurationRules } from './configuration.ts';
import { certificateRules } from './certificates.ts';
import { coreRules } from './core.ts';
import { podRules } from './pods.ts';
import { resourceRules } from './resources.ts';
import { serviceRules } from './services.ts';
import { storageRules } from './storage.ts';
import { workloadRules } from './workloads.ts';

export const kindRules: Readonly<Record<string, KindRules>> = {
  ...coreRules,
  ...podRules,
  ...serviceRules,
  ...storageRules,
  ...workloadRules,
  ...certificateRules,
  ...resourceRules,
  ...configurationRules,
};
