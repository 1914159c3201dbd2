/** A valid object of each kind, and its path. Fields are set so that mutations reach the checks. */

import { clusterSamples } from './cluster.ts';
import { coreSamples } from './core.ts';
import { deviceSamples } from './devices.ts';
import { extensionSamples } from './extension.ts';
import { networkSamples } from './network.ts';
import type { Sample } from './sample.ts';
import { storageSamples } from './storage.ts';

export const samples: readonly Sample[] = [
  ...coreSamples,
  ...storageSamples,
  ...networkSamples,
  ...clusterSamples,
  ...deviceSamples,
  ...extensionSamples,
];
