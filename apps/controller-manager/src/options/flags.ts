/** The flags that are the controller manager's own, and how they are explained. A test compares the two. */

import { describeFlags, helpText, loggingEnvironmentHelp, loggingFlags, loggingHelp } from '@hangar/core/command-line';
import type { FlagGroup, HelpGroup } from '@hangar/core/command-line';

const text = { type: 'string' } as const;
const textOf = <T extends string>(preset: T) => ({ type: 'string', default: preset }) as const;

export const flags = {
  kubeconfig: text,
  'cluster-source': textOf('registration'),
  'cluster-selector': text,
  'cluster-namespace-scope': text,
  'cluster-kubeconfig-secret-template': text,
  'cluster-shard-id': text,
  'cluster-shard-selector': text,
  'cluster-shard-group': text,
  'cluster-peer-name': text,
  'leader-elect': { type: 'boolean', default: true },
  'leader-elect-resource-namespace': textOf('kube-system'),
  'leader-elect-resource-name': text,
  'leader-elect-resource-lock': textOf('leases'),
  'leader-elect-lease-duration': textOf('7s'),
  'leader-elect-renew-deadline': text,
  'leader-elect-retry-period': textOf('2s'),
  engine: textOf('auto'),
  'kube-controller-manager': text,
  'kube-scheduler': text,
  'kube-scheduler-flag': { type: 'string', multiple: true },
  'feed-kubeconfig': text,
  'work-dir': text,
  'cluster-memory-limit': textOf('512Mi'),
  'cluster-port-range': textOf('20000-29999'),
  'cluster-start-concurrency': text,
  'cluster-stop-grace': textOf('1500ms'),
  'cluster-debounce': textOf('1s'),
  'bind-address': textOf('127.0.0.1'),
  'secure-port': textOf('10257'),
  'cert-dir': text,
  'tls-cert-file': text,
  'tls-private-key-file': text,
  'metrics-token-file': text,
  ...loggingFlags,
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const groups: readonly HelpGroup[] = [
  {
    title: 'Clusters',
    rows: [
      [
        '--kubeconfig FILE',
        'kubeconfig of the management plane, where clusters are registered (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)',
      ],
      [
        '--cluster-source KIND',
        'kind of object that registers a cluster: registration (a ControlPlaneRegistration with service controllers or scheduler) or controlplaneendpoint (default: registration)',
      ],
      [
        '--cluster-selector SELECTOR',
        'serve only clusters that match this label selector, in the syntax of kubectl -l (default: all)',
      ],
      [
        '--cluster-namespace-scope NAMESPACE',
        'the only namespace from which kubeconfig Secrets are read (default: the namespace of each cluster)',
      ],
      [
        '--cluster-kubeconfig-secret-template TEMPLATE',
        'with --cluster-source=controlplaneendpoint: the kubeconfig Secret of a cluster, as NAMESPACE/NAME or NAME with the placeholders {name} and {namespace} (default: {namespace}/controlplane-{name}-kubeconfig)',
      ],
    ],
  },
  {
    title: 'Sharing clusters with other replicas',
    rows: [
      [
        '--leader-elect',
        'share the clusters among replicas with Leases in the management plane, so that exactly one replica serves each cluster; false: this process is the only replica (default: true)',
      ],
      ['--leader-elect-resource-namespace NAMESPACE', 'namespace of the Leases (default: kube-system)'],
      [
        '--leader-elect-lease-duration DURATION',
        'time after which other replicas take over the clusters of a replica that has not renewed its Lease (default: 7s)',
      ],
      [
        '--leader-elect-renew-deadline DURATION',
        'time after which a replica that cannot renew its Lease stops serving its clusters; shorter than the lease duration (default: the longest safe time)',
      ],
      ['--leader-elect-retry-period DURATION', 'time between two renewals (default: 2s)'],
      ['--leader-elect-resource-name NAME', 'same as --cluster-shard-group, which takes precedence'],
      ['--leader-elect-resource-lock KIND', 'only leases is supported (default: leases)'],
      [
        '--cluster-shard-group NAME',
        'replicas of one group share the clusters; with a --cluster-source, --cluster-selector or --cluster-namespace-scope the default has a suffix derived from them (default: controller-manager)',
      ],
      [
        '--cluster-peer-name NAME',
        'name of this replica in its group: unique, and stable across restarts (default: the host name)',
      ],
      ['--cluster-shard-id ID', 'static shard: this replica serves only clusters that match the selector of the shard'],
      ['--cluster-shard-selector SELECTOR', 'label selector of the shard (default: hangar.dev/shard=ID)'],
    ],
  },
  {
    title: 'Engines',
    rows: [
      [
        '--engine ENGINE',
        'kube: one kube-controller-manager for each cluster; essential: a small set of controllers in this process for all clusters, without workload controllers; auto: kube if kube-controller-manager is found (default: auto)',
      ],
      ['--kube-controller-manager FILE', 'executable of kube-controller-manager (default: the one in PATH)'],
      [
        '--kube-scheduler FILE',
        'executable of kube-scheduler, for clusters with service scheduler (default: the one in PATH)',
      ],
      ['--kube-scheduler-flag FLAG', 'flag for every kube-scheduler, such as --v=2; may be repeated'],
      [
        '--feed-kubeconfig FILE',
        'kubeconfig of the Hangar whose tenants the essential engine serves (default: the same as --kubeconfig)',
      ],
    ],
  },
  {
    title: 'Child processes',
    rows: [
      [
        '--work-dir DIR',
        'directory for the files of child processes; only one process can use it (default: hangar-controller-manager-PEER in TMPDIR)',
      ],
      [
        '--cluster-memory-limit SIZE',
        'memory limit of one child process, which is killed above it (default: 512Mi; 0: no limit)',
      ],
      ['--cluster-port-range FIRST-LAST', 'ports of child processes on the loopback interface (default: 20000-29999)'],
      [
        '--cluster-start-concurrency N',
        'number of child processes that may start at the same time (default: twice the number of cores, at least 4)',
      ],
      ['--cluster-stop-grace DURATION', 'time between SIGTERM and SIGKILL of a child process (default: 1500ms)'],
      [
        '--cluster-debounce DURATION',
        'time without further changes before a new kubeconfig or address takes effect (default: 1s)',
      ],
    ],
  },
  {
    title: 'Serving',
    rows: [
      [
        '--bind-address IP',
        'address that serves /healthz, /readyz, /clusters and /metrics over TLS (default: 127.0.0.1, only this machine)',
      ],
      ['--secure-port PORT', 'port of --bind-address (default: 10257; 0: any free port)'],
      ['--tls-cert-file FILE', 'serving certificate; reloaded when it changes (default: a generated certificate)'],
      ['--tls-private-key-file FILE', 'private key of --tls-cert-file'],
      ['--cert-dir DIR', 'directory of the generated certificate (default: certs in --work-dir)'],
      [
        '--metrics-token-file FILE',
        'file with the bearer token that /metrics and /clusters require (default: no authentication)',
      ],
    ],
  },
  loggingHelp,
  {
    title: 'Other',
    rows: [
      ['--version', 'print the version'],
      ['-h, --help', 'print this text'],
    ],
  },
  { title: 'Environment', rows: loggingEnvironmentHelp },
];

const head = `Runs the controllers of Kubernetes for every registered cluster.

Usage: hangar controller-manager [flags]`;

const tail = `Flags of kube-controller-manager:
  Every other flag of kube-controller-manager is passed on to each kube-controller-manager,
  including flags that its --help does not list. Hangar checks the flags and their values before it
  starts any of them. Relative file names are relative to the current directory.
  Accepted and not passed on, because only Hangar connects to these processes: --authentication-*,
  --authorization-*, --client-ca-file, --requestheader-*, other --tls-*, --http2-*, --permit-*,
  --disable-http2-serving. Not accepted: --master.
  With --engine=essential these flags have no effect, and the log names them; a flag that looks like
  a misspelt flag of this list is rejected.

Exit codes:
  0   stopped by a signal, after a clean shutdown
  1   failed
  2   invalid command line`;

export const help = [helpText(head, groups), tail].join('\n\n');

/** For documents: every flag, as help shows it. */
export const flagGroups: readonly FlagGroup[] = describeFlags(flags, groups);
