/** `/version`: the Kubernetes release of this API, and the platform of the server. */

import { release } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

const [major, minor] = release.split('.');

export const versionInfo: JsonObject = {
  major,
  minor,
  emulationMajor: major,
  emulationMinor: minor,
  minCompatibilityMajor: major,
  minCompatibilityMinor: String(Number(minor) - 1),
  gitVersion: `v${release}+hangar`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
