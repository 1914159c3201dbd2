/** Random pods that violate the Pod Security Standards, or comply with them, and are otherwise valid. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';

export interface RandomTemplate {
  readonly metadata: object;
  readonly spec: object;
}

type Maker = (random: Random) => object;

const profiles = ['RuntimeDefault', 'Unconfined'];
const profile = (random: Random): object => ({ type: pick(random, profiles) });
const localhost = { type: 'Localhost', localhostProfile: 'p' };

/** Each part is present with this probability. */
function some(random: Random, makers: readonly Maker[], probability = 0.3): object {
  return Object.assign({}, ...makers.map((make) => (chance(random, probability) ? make(random) : {}))) as object;
}

const shared: readonly Maker[] = [
  (random) => ({ runAsNonRoot: chance(random, 0.7) }),
  (random) => ({ runAsUser: pick(random, [0, 1000]) }),
  (random) => ({ seccompProfile: chance(random, 0.3) ? localhost : profile(random) }),
  (random) => ({ appArmorProfile: chance(random, 0.3) ? localhost : profile(random) }),
  (random) => ({
    seLinuxOptions: some(random, [
      () => ({ type: pick(random, ['container_t', 'container_engine_t', 'spc_t', 'other_t']) }),
      () => ({ user: 'u' }),
      () => ({ role: 'r' }),
    ]),
  }),
];

const containerContext: readonly Maker[] = [
  ...shared,
  (random) => ({ allowPrivilegeEscalation: chance(random, 0.2) }),
  () => ({ privileged: true, allowPrivilegeEscalation: true }),
  (random) => ({
    capabilities: {
      ...(chance(random, 0.7) ? { drop: [pick(random, ['ALL', 'KILL'])] } : {}),
      ...(chance(random, 0.4) ? { add: [pick(random, ['NET_BIND_SERVICE', 'CHOWN', 'SYS_ADMIN', 'NET_RAW'])] } : {}),
    },
  }),
];

const hardened = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const handler = (random: Random): object =>
  chance(random, 0.5)
    ? { httpGet: { port: 80, path: '/', scheme: 'HTTP', ...(chance(random, 0.5) ? { host: 'h.example' } : {}) } }
    : { tcpSocket: { port: 80, ...(chance(random, 0.5) ? { host: '127.0.0.1' } : {}) } };

function container(random: Random, name: string, hasProbes: boolean): object {
  const context = chance(random, 0.35) ? hardened : some(random, containerContext);
  return {
    name,
    image: 'image:1',
    ...(chance(random, 0.8) ? { securityContext: context } : {}),
    ...(chance(random, 0.15) ? { ports: [{ containerPort: 80, hostPort: pick(random, [8080, 9090]) }] } : {}),
    ...(hasProbes
      ? some(
          random,
          [
            (one) => ({ livenessProbe: handler(one) }),
            (one) => ({ readinessProbe: handler(one) }),
            (one) => ({ lifecycle: { preStop: handler(one) } }),
          ],
          0.12,
        )
      : {}),
  };
}

const volumes: readonly object[] = [
  { emptyDir: {} },
  { configMap: { name: 'c' } },
  { hostPath: { path: '/x' } },
  { nfs: { server: 's', path: '/' } },
  { iscsi: { targetPortal: 't', iqn: 'iqn.2000-01.com.example:x', lun: 0 } },
  { secret: { secretName: 's' } },
];

const sysctls = ['kernel.shm_rmid_forced', 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_fin_timeout', 'kernel.msgmax'];

export function randomTemplate(random: Random, restartPolicy = 'Always'): RandomTemplate {
  const isWindows = chance(random, 0.08);
  // Windows has no such settings, and validation rejects them.
  if (isWindows) {
    const hostProcess = chance(random, 0.5);
    return {
      metadata: {},
      spec: {
        restartPolicy,
        os: { name: 'windows' },
        hostNetwork: hostProcess,
        securityContext: { windowsOptions: hostProcess ? { hostProcess: true } : {} },
        containers: [{ name: 'a', image: 'i' }],
      },
    };
  }
  // Compliant with every level, except for the parts added here.
  if (chance(random, 0.12)) {
    const spec = { restartPolicy, containers: [{ name: 'a', image: 'i', securityContext: hardened }] };
    return { metadata: {}, spec: { ...spec, ...(chance(random, 0.3) ? { hostIPC: true } : {}) } };
  }
  const count = 1 + random.below(2);
  const context = chance(random, 0.3)
    ? { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
    : some(random, [
        ...shared,
        (one) => ({
          sysctls: [...new Set([pick(one, sysctls), pick(one, sysctls)])].map((name) => ({ name, value: '1' })),
        }),
      ]);
  const annotations = some(
    random,
    [
      (one) => ({ 'seccomp.security.alpha.kubernetes.io/pod': pick(one, ['unconfined', 'runtime/default']) }),
      (one) => ({ 'container.seccomp.security.alpha.kubernetes.io/c0': pick(one, ['unconfined', 'localhost/x']) }),
    ],
    0.1,
  );
  const chosen = volumes.filter(() => chance(random, 0.15));
  return {
    metadata: { annotations },
    spec: {
      restartPolicy,
      securityContext: context,
      containers: Array.from({ length: count }, (_, at) => container(random, `c${at}`, true)),
      ...(chance(random, 0.3) ? { initContainers: [container(random, 'i', false)] } : {}),
      ...(chosen.length > 0 ? { volumes: chosen.map((source, at) => ({ name: `v${at}`, ...source })) } : {}),
      ...some(
        random,
        [() => ({ hostPID: true }), () => ({ hostIPC: true }), (one) => ({ hostUsers: chance(one, 0.5) })],
        0.12,
      ),
    },
  };
}
