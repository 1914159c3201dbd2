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
        'of the management plane, where clusters are registered (default: KUBECONFIG, the pod that this is, or ~/.kube/config)',
      ],
      [
        '--cluster-source KIND',
        'what stands for a cluster: registration (a ControlPlaneRegistration with service controllers or scheduler) or controlplaneendpoint (default: registration)',
      ],
      ['--cluster-selector SELECTOR', 'only those with these labels, as kubectl -l has it (default: all)'],
      [
        '--cluster-namespace-scope NAMESPACE',
        "the only namespace whose Secrets are read for kubeconfigs (default: each cluster's own)",
      ],
      [
        '--cluster-kubeconfig-secret-template TEMPLATE',
        'with --cluster-source=controlplaneendpoint: the Secret of a cluster, NAMESPACE/NAME or NAME, with {name} and {namespace} in it (default: {namespace}/controlplane-{name}-kubeconfig)',
      ],
    ],
  },
  {
    title: 'Sharing clusters with other replicas',
    rows: [
      [
        '--leader-elect',
        'replicas share the clusters by Leases in the management plane, and each cluster is served by exactly one of them; false: this process is the only one (default: true)',
      ],
      ['--leader-elect-resource-namespace NAMESPACE', 'of these Leases (default: kube-system)'],
      [
        '--leader-elect-lease-duration DURATION',
        'after how long without a sign of life the clusters of a replica are given to others (default: 7s)',
      ],
      [
        '--leader-elect-renew-deadline DURATION',
        'after how long without a renewal a replica stops what it runs, which is before the lease ends (default: as long as is safe)',
      ],
      ['--leader-elect-retry-period DURATION', 'between two renewals (default: 2s)'],
      ['--leader-elect-resource-name NAME', 'as --cluster-shard-group, which wins'],
      ['--leader-elect-resource-lock KIND', 'leases: there is no other'],
      [
        '--cluster-shard-group NAME',
        'who shares with whom; with a source, selector or scope of its own it is another one by default (default: controller-manager)',
      ],
      [
        '--cluster-peer-name NAME',
        "this replica among them: unique, and the same again after a restart (default: the host's name)",
      ],
      ['--cluster-shard-id ID', 'a static shard: this replica serves only what the selector of the shard matches'],
      ['--cluster-shard-selector SELECTOR', 'of the shard (default: hangar.dev/shard=ID)'],
    ],
  },
  {
    title: 'Engines',
    rows: [
      [
        '--engine ENGINE',
        'kube: a kube-controller-manager for each cluster; essential: a small set in this process for all, without workloads; auto: kube where the program is found (default: auto)',
      ],
      ['--kube-controller-manager FILE', 'the program (default: the one in PATH)'],
      ['--kube-scheduler FILE', 'the program for clusters with service scheduler (default: the one in PATH)'],
      ['--kube-scheduler-flag FLAG', 'given to every kube-scheduler, such as --v=2; may be repeated'],
      [
        '--feed-kubeconfig FILE',
        'of the Hangar whose tenants the essential engine serves (default: as --kubeconfig says)',
      ],
    ],
  },
  {
    title: 'Programs',
    rows: [
      [
        '--work-dir DIR',
        'their folders, one for each, gone when they are; of this process alone (default: hangar-controller-manager-PEER in TMPDIR)',
      ],
      ['--cluster-memory-limit SIZE', 'of one program, which is ended above it (default: 512Mi; 0: none)'],
      ['--cluster-port-range FIRST-LAST', 'their ports on the loopback interface (default: 20000-29999)'],
      ['--cluster-start-concurrency N', 'how many may be on their way at once (default: twice the cores, at least 4)'],
      ['--cluster-stop-grace DURATION', 'between asking one to end and ending it (default: 1500ms)'],
      [
        '--cluster-debounce DURATION',
        'how long a change of kubeconfig or address must have stood before it is acted on (default: 1s)',
      ],
    ],
  },
  {
    title: 'Serving',
    rows: [
      [
        '--bind-address IP',
        'where /healthz, /readyz, /clusters and /metrics are served, over TLS (default: 127.0.0.1, this machine only)',
      ],
      ['--secure-port PORT', 'its port (default: 10257; 0: any)'],
      ['--tls-cert-file FILE', 'what the port shows; read again when it changes (default: a certificate of its own)'],
      ['--tls-private-key-file FILE', 'its key'],
      ['--cert-dir DIR', 'where its own certificate is kept (default: certs in --work-dir)'],
      [
        '--metrics-token-file FILE',
        'what is in it is asked for as bearer token on /metrics and /clusters (default: whoever asks is answered)',
      ],
    ],
  },
  loggingHelp,
  {
    title: 'Other',
    rows: [
      ['--version', 'print the version'],
      ['-h, --help', 'print this'],
    ],
  },
  { title: 'Environment', rows: loggingEnvironmentHelp },
];

const head = `Runs Kubernetes' own controllers for every cluster that is registered for them.

Usage: hangar controller-manager [flags]`;

const tail = `Flags of kube-controller-manager:
  Every other flag that kube-controller-manager has is passed on to each: what it lists in --help,
  and what it accepts although it does not list it. Before anything is started it is asked whether
  it takes them with these values. Relative names of files are those of this folder.
  Accepted and not passed on, since each program is only reached from here: --authentication-*,
  --authorization-*, --client-ca-file, --requestheader-*, other --tls-*, --http2-*, --permit-*,
  --disable-http2-serving. Not accepted: --master.
  With --engine=essential they have no effect, and a line of the log names them; what looks like a
  misspelt flag of the above is refused.

Exit codes:
  0   it was asked to end, and nothing of it is left
  1   it could not go on
  2   the command line cannot be understood`;

export const help = [helpText(head, groups), tail].join('\n\n');

/** For documents: every flag, as help shows it. */
export const flagGroups: readonly FlagGroup[] = describeFlags(flags, groups);
