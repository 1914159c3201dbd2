/**
 * Cases that systematic changes do not reach: fields that exclude others, rules across fields, unusual values. A line is a case: a path and
 * its value.
 */

import { parseYaml } from '../../../yaml/parse.ts';

export type Case = readonly [path: string, value: unknown];

const read = (text: string): Case[] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf(' = ');
      return [line.slice(0, at), parseYaml(line.slice(at + 3)).value];
    });

const many = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));

/** Too many of something. */
const longSearch: Case = ['spec.dnsConfig', { searches: [many(300, () => 'abcdefgh').join('.'), '.', 'a.', 'Bad'] }];
const manyExitCodes = { operator: 'In', values: many(256, (i) => i + 1) };
const manyRules: Case = [
  'spec.podFailurePolicy',
  { rules: many(21, () => ({ action: 'Count', onExitCodes: manyExitCodes })) },
];

/** Set in a small pod, one at a time. */
export const podCases: readonly Case[] = [
  longSearch,
  ...read(`
spec.hostNetwork = true
spec.hostUsers = false
spec.containers.0 = {name: main, image: " a ", ports: [{containerPort: 80, hostPort: 80}, {containerPort: 80, hostPort: 80}]}
spec.containers.0 = {name: main, image: a, ports: [{containerPort: 80, name: a--b}, {containerPort: 81, name: UPPER}]}
spec.containers.0 = {name: main, image: a, ports: [{containerPort: 80, name: a}, {containerPort: 81, name: a, protocol: ICMP}]}
spec = {hostNetwork: true, containers: [{name: a, image: a, ports: [{containerPort: 80, hostPort: 81}]}]}
spec = {hostUsers: false, hostPID: true, hostIPC: true, hostNetwork: true, containers: [{name: a, image: a}]}
spec = {hostPID: true, shareProcessNamespace: true, containers: [{name: a, image: a}]}
spec.containers = []
spec.ephemeralContainers = [{name: debug, image: a}]
spec.initContainers = [{name: main, image: a, lifecycle: {}, livenessProbe: {exec: {command: ["true"]}}, readinessProbe: {exec: {command: ["true"]}}, startupProbe: {exec: {command: ["true"]}}}]
spec.initContainers = [{name: i, image: a, restartPolicyRules: [{action: Restart}]}]
spec.initContainers = [{name: i, image: a, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]
spec.containers.0.restartPolicyRules = [{action: Explode}, {action: Restart, exitCodes: {operator: Near, values: [1]}}]
spec.containers.0.livenessProbe = {}
spec.containers.0.livenessProbe = {exec: {}, httpGet: {port: 80}, tcpSocket: {port: 80}, grpc: {port: 80}}
spec.containers.0.livenessProbe = {httpGet: {port: "not a port", scheme: FTP, httpHeaders: [{name: "a b", value: ""}]}}
spec.containers.0.readinessProbe = {exec: {command: ["true"]}, terminationGracePeriodSeconds: 5}
spec.containers.0.lifecycle = {postStart: {}, preStop: {sleep: {seconds: 100}, exec: {command: []}}}
spec.containers.0.lifecycle = {preStop: {sleep: {seconds: -1}}}
spec.containers.0.resources = {requests: {cpu: "2"}, limits: {cpu: "1"}}
spec.containers.0.resources = {requests: {example.com/gpu: "1"}}
spec.containers.0.resources = {requests: {example.com/gpu: "1"}, limits: {example.com/gpu: "2"}}
spec.containers.0.resources = {limits: {example.com/gpu: "1500m"}}
spec.containers.0.resources = {limits: {gpu: "1"}}
spec.containers.0.resources = {limits: {kubernetes.io/gpu: "1"}}
spec.containers.0.resources = {limits: {requests.example.com/a: "1"}}
spec.containers.0.resources = {limits: {a/b/c: "1"}}
spec.containers.0.resources = {limits: {pods: "1"}}
spec.containers.0.resources = {limits: {hugepages-2Mi: "2Mi"}}
spec.containers.0.resources = {limits: {cpu: "1", hugepages-2Mi: "3Mi"}, requests: {hugepages-2Mi: "2Mi"}}
spec.containers.0.resources = {limits: {cpu: "1", hugepages-x: "3Mi"}}
spec.containers.0.resources = {claims: [{name: ""}, {name: a}, {name: a}, {name: b, request: X}, {name: b, request: X}, {name: b}]}
spec.containers.0.resizePolicy = [{resourceName: cpu, restartPolicy: Never}, {resourceName: disk, restartPolicy: NotRequired}, {resourceName: cpu, restartPolicy: ""}]
spec = {restartPolicy: Never, containers: [{name: a, image: a, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]}
spec.containers.0.securityContext = {privileged: true, allowPrivilegeEscalation: false}
spec.containers.0.securityContext = {capabilities: {add: [CAP_SYS_ADMIN]}, allowPrivilegeEscalation: false, runAsUser: 5}
spec.containers.0.securityContext = {procMount: Unmasked}
spec.containers.0.securityContext = {procMount: Half}
spec.containers.0.securityContext = {seccompProfile: {type: RuntimeDefault, localhostProfile: a}}
spec.containers.0.securityContext = {seccompProfile: {type: Localhost}}
spec.containers.0.securityContext = {appArmorProfile: {type: Unconfined, localhostProfile: a}}
spec.containers.0.securityContext = {appArmorProfile: {type: Localhost, localhostProfile: " a "}}
spec.containers.0.securityContext = {windowsOptions: {gmsaCredentialSpecName: A_, gmsaCredentialSpec: "", runAsUserName: "a\\\\b\\\\c"}}
spec.containers.0.securityContext = {windowsOptions: {runAsUserName: "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd\\\\"}}
spec.containers.0.securityContext = {windowsOptions: {runAsUserName: "*bad\\\\us:er"}}
spec.containers.0.securityContext = {windowsOptions: {runAsUserName: "..."}}
spec.containers.0.securityContext = {windowsOptions: {hostProcess: true}}
spec.securityContext = {windowsOptions: {hostProcess: true}, sysctls: [{name: net.a, value: "1"}, {name: net.a, value: ""}, {name: A, value: ""}]}
spec = {hostNetwork: true, hostIPC: true, securityContext: {sysctls: [{name: net/core/x, value: "1"}, {name: kernel.shm, value: "1"}]}, containers: [{name: a, image: a}]}
spec.securityContext = {seLinuxChangePolicy: MountOption, fsGroupChangePolicy: Sometimes, supplementalGroupsPolicy: None}
spec = {os: {name: windows}, securityContext: {runAsUser: 1, fsGroup: 1}, hostPID: true, containers: [{name: a, image: a, securityContext: {privileged: true, runAsUser: 1}}]}
spec = {os: {name: linux}, securityContext: {windowsOptions: {}}, containers: [{name: a, image: a, securityContext: {windowsOptions: {}}}]}
spec.os = {}
spec.os = {name: plan9}
spec = {resources: {limits: {cpu: "1", disk: "1"}, requests: {cpu: "500m"}}, containers: [{name: a, image: a, resources: {requests: {cpu: "600m"}, limits: {cpu: "2"}}}]}
spec.resources = {claims: [{name: a}]}
spec = {resources: {requests: {cpu: "1"}}, initContainers: [{name: s, image: a, restartPolicy: Always, resources: {requests: {cpu: "1"}}}, {name: i, image: a, resources: {requests: {cpu: "500m"}}}], containers: [{name: a, image: a, resources: {requests: {cpu: "100m"}}}]}
spec.dnsPolicy = None
spec.dnsPolicy = Sometimes
spec.dnsConfig = {nameservers: ["1.2.3.4", "::ffff:1.2.3.4", "01.2.3.4", x], searches: [a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b, a.b], options: [{value: x}]}
spec.hostnameOverride = Bad_Name
spec = {hostnameOverride: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, setHostnameAsFQDN: true, hostNetwork: true, containers: [{name: a, image: a}]}
spec.activeDeadlineSeconds = 4294967296
spec.runtimeClassName = ""
spec.overhead = {cpu: "-1"}
spec.overhead = {x: "1"}
spec.schedulingGates = [{name: a}, {name: a}, {name: ""}]
spec = {nodeName: node, schedulingGates: [{name: a}], containers: [{name: a, image: a}]}
spec.resourceClaims = [{name: a}, {name: a, resourceClaimName: A}, {name: B, resourceClaimName: a, resourceClaimTemplateName: b}, {name: ""}]
spec.tolerations = [{key: a, operator: Exists, value: b}, {operator: Equal}, {key: a, operator: Lt, value: "5"}, {key: a, operator: Odd}, {key: a, tolerationSeconds: 1}, {key: a, effect: None}, {key: a, value: "b c"}]
spec.topologySpreadConstraints = [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]
spec.topologySpreadConstraints = [{maxSkew: 1, topologyKey: "", whenUnsatisfiable: ScheduleAnyway, minDomains: 0, labelSelector: {matchLabels: {a: "b c"}}}]
spec.affinity = {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "", matchLabelKeys: [a], mismatchLabelKeys: [a], labelSelector: {matchLabels: {a: b}}}]}}
spec.affinity = {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [a]}]}}
spec.affinity = {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}
spec.affinity = {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: []}, {key: a, operator: Exists, values: [b]}, {key: a, operator: In, values: ["b c"]}, {key: a, operator: "?"}], matchFields: [{key: x, operator: In, values: [a, b]}, {key: metadata.name, operator: Exists}]}]}}}
spec.volumes = [{name: a}, {name: a, emptyDir: {}}, {name: a, emptyDir: {}}, {name: b, emptyDir: {}, hostPath: {path: "/"}, secret: {}}]
spec.volumes = [{name: a, emptyDir: {}, gcePersistentDisk: {pdName: a}, cephfs: {monitors: [a]}, downwardAPI: {}, csi: {driver: a}, image: {}}]
spec.volumes = [{name: a, emptyDir: {sizeLimit: "-1"}}, {name: b, hostPath: {path: "/../a", type: Odd}}, {name: c, nfs: {server: a, path: b}}]
spec.volumes = [{name: a, downwardAPI: {items: [{path: a}, {path: "/b", fieldRef: {fieldPath: spec.nodeName}, resourceFieldRef: {resource: x}}, {path: "..c", resourceFieldRef: {containerName: a, resource: limits.cpu, divisor: "2"}}]}}]
spec.volumes = [{name: a, projected: {sources: [{}, {secret: {name: a, items: [{key: a, path: p}, {key: b, path: p}]}, configMap: {name: ""}}, {serviceAccountToken: {path: "", expirationSeconds: 5}}, {serviceAccountToken: {path: "../x", expirationSeconds: 8589934592}}]}}]
spec.volumes = [{name: a, csi: {driver: "", nodePublishSecretRef: {name: A}}}, {name: b, csi: {driver: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_}}]
spec.volumes = [{name: a, ephemeral: {volumeClaimTemplate: {metadata: {name: x, finalizers: [a/b]}, spec: {accessModes: [ReadWriteOncePod, ReadWriteOnce, Odd], dataSource: {kind: A, name: b}, dataSourceRef: {kind: PersistentVolumeClaim, name: c}}}}}, {name: b, persistentVolumeClaim: {claimName: pod-a}}]
spec.volumes = [{name: a, azureDisk: {diskName: a, diskURI: b, kind: Managed, cachingMode: x}}, {name: b, azureDisk: {diskName: a, diskURI: b, kind: Other}}]
spec.volumes = [{name: a, fc: {targetWWNs: [a], wwids: [b]}}, {name: b, fc: {}}, {name: c, flocker: {datasetName: a/b, datasetUUID: c}}, {name: d, flocker: {}}]
spec.volumes = [{name: a, iscsi: {targetPortal: x, iqn: bad, lun: 300, chapAuthSession: true, initiatorName: iqn.x}}, {name: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, iscsi: {targetPortal: xy, iqn: eui.0123456789abcdef, initiatorName: eui.1}}]
spec.volumes = [{name: a, quobyte: {registry: x, volume: a}}, {name: b, quobyte: {registry: "x:1", tenant: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}, {name: c, flexVolume: {driver: a, options: {k8s.io/a: b}}}]
spec.containers.0.volumeMounts = [{name: a, mountPath: "/a"}, {name: b, mountPath: "/a", mountPropagation: Bidirectional}, {name: c, mountPath: "/c:d", recursiveReadOnly: Enabled, mountPropagation: Odd}]
spec.containers.0.env = [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, valueFrom: {}}, {name: "C=D"}, {name: E, valueFrom: {fieldRef: {fieldPath: a}, configMapKeyRef: {name: "", key: ".."}}}]
spec.containers.0.env = [{name: A, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: metadata.name}}}, {name: B, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a b']"}}}, {name: C, valueFrom: {fieldRef: {fieldPath: "spec.x['a']"}}}, {name: D, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}, {name: E, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['A B']"}}}]
spec.containers.0.env = [{name: A, valueFrom: {resourceFieldRef: {resource: requests.hugepages-2Mi, divisor: "3"}}}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: "1m"}}}, {name: C, valueFrom: {resourceFieldRef: {resource: x}}}]
spec.containers.0.envFrom = [{}, {configMapRef: {name: A}, secretRef: {name: ""}}, {prefix: "a=b", secretRef: {name: a-}}]
metadata.annotations = {kubernetes.io/config.mirror: x}
metadata.annotations = {controller.kubernetes.io/pod-deletion-cost: "+5"}
metadata.annotations = {seccomp.security.alpha.kubernetes.io/pod: bad, container.seccomp.security.alpha.kubernetes.io/main: localhost//a}
metadata.annotations = {container.apparmor.security.beta.kubernetes.io/other: bad}
spec.nodeSelector = {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "a b"}
spec.priorityClassName = Bad_
spec.preemptionPolicy = Always
spec.hostAliases = [{ip: x, hostnames: [A]}]
spec.serviceAccountName = Bad_
`),
];

/** Valid, and worth a warning. */
export const warningCases = read(`
spec.nodeSelector = {beta.kubernetes.io/os: linux}
spec.terminationGracePeriodSeconds = -5
spec.imagePullSecrets = [{name: a}, {name: a}, {name: ""}]
spec.hostAliases = [{ip: "2001:DB8::1"}, {ip: "1.2.3.4"}, {ip: "1.2.3.4"}]
spec.dnsConfig = {nameservers: ["2001:db8:0:0::1"]}
spec.overhead = {memory: "1500m"}
spec.containers.0.resources = {limits: {memory: "0.5", ephemeral-storage: "1500m"}, requests: {memory: "0.5"}}
spec.containers.0.env = [{name: A, value: "1"}, {name: A, value: "$(A)"}, {name: A, value: "x$(A)"}, {name: A, value: "y"}]
spec.containers.0.ports = [{containerPort: 80, name: a}, {containerPort: 80, hostPort: 80}, {containerPort: 80, hostPort: 80, hostIP: "1.2.3.4"}, {containerPort: 80}, {containerPort: 81, hostIP: "1.2.3.4"}]
spec.containers = [{name: a, image: a, ports: [{containerPort: 80, name: x}]}, {name: b, image: b, ports: [{containerPort: 81, name: x}]}]
spec.topologySpreadConstraints = [{maxSkew: 1, topologyKey: beta.kubernetes.io/arch, whenUnsatisfiable: ScheduleAnyway}]
spec.affinity = {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a}}]}}
spec.affinity = {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: beta.kubernetes.io/os, operator: Exists}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: ["b c"]}]}}]}}
spec.volumes = [{name: a, gitRepo: {repository: a}}, {name: b, configMap: {name: c, items: [{key: a, path: x}, {key: b, path: x/y}]}}]
spec.volumes = [{name: a, projected: {sources: [{}, {configMap: {name: c, items: [{key: a, path: x}]}}, {secret: {name: s, items: [{key: a, path: x/z}]}}]}}]
spec.volumes = [{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "1500m"}}}}}}]
metadata.annotations = {scheduler.alpha.kubernetes.io/critical-pod: "", seccomp.security.alpha.kubernetes.io/pod: runtime/default}
metadata.annotations = {container.seccomp.security.alpha.kubernetes.io/main: unconfined}
metadata.name = a.b
`);

export const jobCases: readonly Case[] = [
  manyRules,
  ...read(`
spec.completionMode = Odd
spec.completions = 200000
spec.parallelism = 200000
spec.managedBy = a
spec.managedBy = "A.b/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
spec.manualSelector = true
spec.selector = {matchLabels: {a: b}}
spec.podReplacementPolicy = TerminatingOrFailed
spec.template.spec.restartPolicy = OnFailure
spec.template.spec.restartPolicy = Always
spec.template.metadata.labels = {job-name: other}
spec.successPolicy = {rules: [{succeededIndexes: "2-1"}, {succeededIndexes: "1,1"}, {succeededIndexes: "0-1-2"}, {succeededIndexes: a}, {succeededIndexes: "7"}, {succeededCount: 9}, {succeededIndexes: "0", succeededCount: 2}, {}]}
spec.podFailurePolicy = {rules: [{}, {action: Odd, onExitCodes: {operator: In, values: [0, 5, 3, 3], containerName: x}, onPodConditions: [{type: "a b", status: Maybe}, {type: a, status: ""}]}, {action: Count, onExitCodes: {operator: "", values: []}}]}
`),
];

export const cronJobCases = read(`
spec.schedule = "* * * *"
spec.schedule = "60 * * * *"
spec.schedule = "* * 0 * *"
spec.schedule = "1-2-3 * * * *"
spec.schedule = "*/0 * * * *"
spec.schedule = "5-1 * * * *"
spec.schedule = "a * * * *"
spec.schedule = "@daily"
spec.schedule = "@often"
spec.schedule = "@every 1h"
spec.schedule = "@every x"
spec.schedule = "@every 5"
spec.schedule = "@every 5q"
spec.schedule = "*/1/2 * * * *"
spec.schedule = "-1 * * * *"
spec.schedule = "* * * JAN sun"
spec.schedule = "0 0 1,15 * 1-5/2"
spec.schedule = "TZ=UTC * * * * *"
spec.schedule = "CRON_TZ=Mars/X * * * * *"
spec.schedule = "TZ=UTC"
spec.schedule = "99999999999999999999 * * * *"
spec.schedule = ""
spec.schedule = " * * * * * "
spec.schedule = "?/2 ? ? ? ?"
spec.timeZone = UTC
spec.timeZone = utc
spec.timeZone = Local
spec.timeZone = Mars/Phobos
spec.timeZone = "Etc/GMT+5"
spec.timeZone = EST5EDT
spec.timeZone = europe/berlin
spec.timeZone = "+01:00"
spec.timeZone = "+0100"
spec.timeZone = "../etc"
spec.timeZone = Asia/Calcutta
spec.timeZone = America/Argentina/Buenos_Aires
spec.timeZone = a/-b
spec.jobTemplate.spec.selector = {matchLabels: {a: b}}
spec.jobTemplate.spec.manualSelector = true
metadata.name = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
`);

export const setCases: Readonly<Record<string, readonly Case[]>> = {
  deployment: read(`
spec.strategy = {type: Recreate, rollingUpdate: {maxSurge: 1}}
spec.strategy = {type: Odd}
spec.strategy.rollingUpdate = {maxUnavailable: "101%", maxSurge: x}
spec.strategy.rollingUpdate = {maxUnavailable: "0%", maxSurge: 0}
spec.selector = {matchExpressions: [{key: app, operator: In}, {key: a, operator: Exists, values: [b]}, {key: "a b", operator: Odd}]}
spec.minReadySeconds = 200
spec.template.spec.activeDeadlineSeconds = 5
spec.template.spec.restartPolicy = Never
spec.template.spec.ephemeralContainers = [{name: a, image: b}]
spec.template.metadata.annotations = {"a b": c}
`),
  statefulSet: read(`
spec.updateStrategy = {type: OnDelete, rollingUpdate: {partition: 1}}
spec.updateStrategy = {type: Odd}
spec.template.spec.hostname = Bad_
spec.volumeClaimTemplates.0.spec.accessModes = []
`),
  daemonSet: read(`
spec.updateStrategy = {type: Odd}
spec.updateStrategy.rollingUpdate = {maxUnavailable: 0, maxSurge: 0}
spec.updateStrategy.rollingUpdate = {maxUnavailable: 1, maxSurge: "10%"}
spec.updateStrategy.rollingUpdate = {maxUnavailable: "200%", maxSurge: "300%"}
`),
  controllerRevision: read(`
data = null
data = 5
revision = -5
`),
};
