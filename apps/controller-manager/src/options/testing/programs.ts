/** testing: a machine with or without Kubernetes' programs, which are never run. */

import { kubeFlagsIn } from '../kube-help.ts';
import type { KubePrograms } from '../kube-programs.ts';
import type { OptionsWorld } from '../options.ts';

/** From the help of kube-controller-manager v1.36: a flag of each kind. */
export const managerHelp = `Usage:
  kube-controller-manager [flags]

Debugging flags:

      --contention-profiling   Enable block profiling, if profiling is enabled
      --profiling              Enable profiling via web interface host:port/debug/pprof/ (default true)

Generic flags:

      --allocate-node-cidrs                                Should CIDRs for Pods be allocated and set on the cloud provider. Requires --cluster-cidr.
      --cluster-cidr string                                CIDR Range for Pods in cluster.
      --cluster-name string                                The instance prefix for the cluster. (default "kubernetes")
      --controllers strings                                A list of controllers to enable.
                                                           All controllers: bootstrap-signer-controller, --not-a-flag string   of this text
      --feature-gates colonSeparatedMultimapStringString   Comma-separated list of component:key=value pairs.
      --kube-api-qps float32                               QPS to use while talking with kubernetes apiserver. (default 20)
      --leader-elect                                       Start a leader election client.
      --root-ca-file string                                If set, this root certificate authority will be included.
      --terminated-pod-gc-threshold int32                  Number of terminated pods that can exist.
      --tls-min-version string                             Minimum TLS version supported.
      --master string                                      The address of the Kubernetes API server.

Logs flags:

  -v, --v Level                              number for the log level verbosity
      --vmodule pattern=N,...                comma-separated list of pattern=N settings

Global flags:

  -h, --help                     help for kube-controller-manager
      --version version[=true]   --version, --version=raw prints version information and quits
`;

export interface Machine {
  /** Names of the programs in PATH. */
  readonly inPath?: readonly string[];
  /** Paths of executable files. */
  readonly files?: readonly string[];
  /** Returns the program's error about flags. */
  readonly complaint?: (path: string, flags: readonly string[]) => string | undefined;
}

export const programsOn = ({ inPath = [], files = [], complaint = () => undefined }: Machine): KubePrograms => ({
  find: (name) => (inPath.includes(name) ? `/usr/bin/${name}` : undefined),
  isExecutable: (path) => files.includes(path),
  flagsOf: async () => kubeFlagsIn(managerHelp),
  complaint: async (path, flags) => complaint(path, flags),
});

export const optionsWorld = (machine: Machine = {}, given: Partial<OptionsWorld> = {}): OptionsWorld => ({
  environment: {},
  folder: '/here',
  temporaryFolder: '/tmp',
  hostName: 'Node-1',
  cores: 2,
  programs: programsOn(machine),
  ...given,
});
