/** `/version`: the Kubernetes release of this API, and the platform of the server. */

import { release } from '@hangar/api';
import { labelText } from '@hangar/core';

const [major, minor] = release.split('.') as [string, string];

export const versionInfo = {
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

/** The same as a metric. */
export const buildInfo = `# HELP kubernetes_build_info The Kubernetes release of this API, with the value 1.
# TYPE kubernetes_build_info gauge
kubernetes_build_info${labelText({
  build_date: versionInfo.buildDate,
  compiler: versionInfo.compiler,
  git_commit: versionInfo.gitCommit,
  git_tree_state: versionInfo.gitTreeState,
  git_version: versionInfo.gitVersion,
  go_version: versionInfo.goVersion,
  major,
  minor,
  platform: versionInfo.platform,
})} 1`;
