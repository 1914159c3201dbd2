import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { containerdFiles } from './containerd.ts';
import { kubeletArguments, kubeletFiles } from './kubelet.ts';
import { kubeProxyFiles } from './kube-proxy.ts';
import { NodeNetwork } from './network.ts';

describe('the configuration of containerd', () => {
  const settings = { folder: '/n/containerd', podNetwork: '10.81.3.0/24' };
  const programs = { runc: '/usr/sbin/runc', pluginFolders: ['/usr/lib/cni', '/usr/lib/cni', '/opt/cni/bin'] };

  test('keeps all files in the folder of the node, and names runc and each folder of plugins once', () => {
    const text = containerdFiles(settings, programs)['/n/containerd/config.toml']!;
    assert.match(text, /^version = 3$/m);
    assert.match(text, /^root = '\/n\/containerd\/root'$/m);
    assert.match(text, /BinaryName = '\/usr\/sbin\/runc'/);
    assert.match(text, /bin_dirs = \["\/usr\/lib\/cni","\/opt\/cni\/bin"\]/);
    assert.match(text, /conf_dir = '\/n\/containerd\/networks'/);
  });

  test('has an image for sandboxes only when one is given', () => {
    const path = '/n/containerd/config.toml';
    assert.doesNotMatch(containerdFiles(settings, programs)[path]!, /pinned_images/);
    const text = containerdFiles({ ...settings, pauseImage: 'example.com/pause:1' }, programs)[path]!;
    assert.match(text, /pinned_images\]\n {2}sandbox = 'example\.com\/pause:1'/);
  });

  test('gives pods addresses of the network of the node', () => {
    const text = containerdFiles(settings, programs)['/n/containerd/networks/10-pods.conflist']!;
    const { plugins } = JSON.parse(text) as { plugins: { type: string; ipam?: object }[] };
    assert.deepEqual(
      plugins.map(({ type }) => type),
      ['bridge', 'portmap'],
    );
    assert.deepEqual(plugins[0]!.ipam, {
      type: 'host-local',
      ranges: [[{ subnet: '10.81.3.0/24' }]],
      routes: [{ dst: '0.0.0.0/0' }],
    });
  });
});

describe('the configuration of the kubelet', () => {
  const settings = {
    folder: '/n/kubelet-config',
    address: '10.77.3.11',
    cgroup: 'hangar-node-a',
    bootstrapKubeconfig: 'kind: Config\n',
    clientAuthority: 'PEM\n',
    configuration: { clusterDNS: ['10.0.0.10'] },
  };

  test('uses the cgroup of the node, the CA of the control plane and certificates that the control plane signs', () => {
    const files = kubeletFiles(settings);
    const config = JSON.parse(files['/n/kubelet-config/config.json']!) as Record<string, unknown>;
    assert.equal(config['cgroupRoot'], '/hangar-node-a');
    assert.equal(config['serverTLSBootstrap'], true);
    assert.deepEqual(config['clusterDNS'], ['10.0.0.10']);
    assert.deepEqual(config['authentication'], {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: '/n/kubelet-config/client-ca.crt' },
    });
    assert.equal(files['/n/kubelet-config/client-ca.crt'], 'PEM\n');
    assert.equal(files['/n/kubelet-config/bootstrap.kubeconfig'], 'kind: Config\n');
  });

  test('forwards names outside of the cluster to the given servers, else to none', () => {
    const path = '/n/kubelet-config/resolv.conf';
    assert.equal(kubeletFiles(settings)[path], 'nameserver 10.77.3.11\n');
    const given = kubeletFiles({ ...settings, nameservers: ['192.0.2.1', '192.0.2.2'] });
    assert.equal(given[path], 'nameserver 192.0.2.1\nnameserver 192.0.2.2\n');
  });

  test('is named on the command line, with the name and address of the node', () => {
    const args = kubeletArguments({ ...settings, nodeName: 'demo-1' });
    assert.ok(args.includes('--config=/n/kubelet-config/config.json'));
    assert.ok(args.includes('--hostname-override=demo-1'));
    assert.ok(args.includes('--node-ip=10.77.3.11'));
  });
});

test('kube-proxy uses nftables and changes no setting of the whole machine', () => {
  const options = { nodeName: 'demo-1', folder: '/n/kube-proxy', podNetwork: '10.81.3.0/24', kubeconfig: '/n/k' };
  const config = JSON.parse(kubeProxyFiles(options)['/n/kube-proxy/config.json']!) as Record<string, unknown>;
  assert.equal(config['mode'], 'nftables');
  assert.equal(config['clusterCIDR'], '10.81.3.0/24');
  assert.deepEqual(config['clientConnection'], { kubeconfig: '/n/k' });
  assert.deepEqual(config['conntrack'], {
    maxPerCore: 0,
    min: 0,
    tcpEstablishedTimeout: '0s',
    tcpCloseWaitTimeout: '0s',
  });
});

test('each node of a network has its own address and pod network', () => {
  const network = new NodeNetwork('bridge0', 7);
  assert.equal(network.hostAddress, '10.77.7.1');
  assert.deepEqual(network.addressesOf(0), { index: 0, address: '10.77.7.11', podNetwork: '10.81.7.0/24' });
  assert.deepEqual(network.addressesOf(2), { index: 2, address: '10.77.7.13', podNetwork: '10.83.7.0/24' });
  assert.deepEqual(network.networks.slice(0, 2), ['10.77.7.0/24', '10.81.7.0/24']);
});
