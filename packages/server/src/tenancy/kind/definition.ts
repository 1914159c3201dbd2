/** The kind `Tenant`, declared as a CustomResourceDefinition would: one object for each virtual control plane. */

import { declareKind } from '../../library/kind.ts';
import type { Kind } from '../../library/kind.ts';
import { issuersMax } from '../external-users/limits.ts';
import { rootPath } from '../layout.ts';
import { tenantGroup, tenantsName, tenantVersion } from '../tenant.ts';

const limit = (description: string, minimum = 0) =>
  ({ type: 'integer', format: 'int64', minimum, description }) as const;
export const hostsMax = 64;
export const hostLengthMax = 253;
export const hostPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

const quota = {
  type: 'object',
  description: 'Limits of the control plane. A resource without a limit is unlimited.',
  properties: {
    objects: limit('Maximum number of objects, without the default objects of a control plane.'),
    storedBytes: limit('Maximum size of all stored objects and their names, in bytes.'),
    objectsPerKind: {
      type: 'object',
      description: 'Maximum number of objects by resource, such as configmaps or deployments.apps.',
      maxProperties: 256,
      additionalProperties: limit('Maximum number of objects of this resource.'),
    },
    watches: limit('Maximum number of concurrent watches.'),
    requestsPerSecond: limit('Maximum number of requests per second of all users of the control plane.', 1),
  },
} as const;

const nodes = {
  type: 'object',
  description: 'Nodes of the control plane. Absent: nodes cannot join.',
  properties: {
    enabled: {
      type: 'boolean',
      description:
        'Whether nodes can join. The control plane gets a separate port, through which nodes and pods reach it without a path.',
    },
    networks: {
      type: 'array',
      description:
        'Networks (CIDR) that contain the addresses of nodes, pods and services of the control plane. The server opens connections to kubelets, pods and services only in these networks. Without networks, it opens none.',
      maxItems: 32,
      'x-kubernetes-list-type': 'set',
      items: {
        type: 'string',
        minLength: 1,
        maxLength: 49,
        'x-kubernetes-validations': [
          { rule: 'isCIDR(self)', message: 'must be a network in CIDR notation, such as 10.0.0.0/8 or fd00::/8' },
        ],
      },
    },
  },
} as const;

const authentication = {
  type: 'object',
  description:
    'External users of the control plane. Absent: the control plane accepts only its own certificates and tokens.',
  properties: {
    jwt: {
      type: 'array',
      description:
        'Issuers of JSON Web Tokens: the field jwt of an AuthenticationConfiguration of apiserver.config.k8s.io/v1, with issuer, claimValidationRules, claimMappings and userValidationRules. A change takes effect immediately. The server reads the keys of an issuer within its policy for outgoing connections of tenants.',
      maxItems: issuersMax,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
} as const;

const spec = {
  type: 'object',
  properties: {
    hosts: {
      type: 'array',
      description: 'Host names of the control plane, in addition to its path.',
      maxItems: hostsMax,
      'x-kubernetes-list-type': 'set',
      items: { type: 'string', minLength: 1, maxLength: hostLengthMax, pattern: hostPattern },
    },
    suspension: {
      type: 'string',
      description: 'ReadOnly rejects writes. Offline rejects all requests. Absent: the control plane is active.',
      enum: ['ReadOnly', 'Offline'],
    },
    deletionPolicy: {
      type: 'string',
      description:
        'Handling of the data when the tenant is deleted. Retain keeps the data; a new tenant with the same name adopts it. Destroy deletes the data immediately.',
      enum: ['Retain', 'Destroy'],
      default: 'Retain',
    },
    retainedData: {
      type: 'string',
      description:
        'Handling of data that a deleted tenant with the same name retained. Adopt uses the data. Refuse rejects the creation of the tenant. Defaults to Adopt. Has no effect after the creation.',
      enum: ['Adopt', 'Refuse'],
    },
    quota,
    nodes,
    authentication,
  },
} as const;

const nodesStatus = {
  type: 'object',
  description: 'How nodes reach the control plane. Present while nodes are enabled, if the server has ports for nodes.',
  required: ['port', 'endpoint', 'caBundle', 'serviceCIDR'],
  properties: {
    port: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 65535,
      description: 'Port of the server that serves only this control plane.',
    },
    endpoint: { type: 'string', description: 'URL of the port for nodes and pods, without a path.' },
    caBundle: {
      type: 'string',
      format: 'byte',
      description: 'CA of the certificate of the port and of client certificates; PEM in base64.',
    },
    serviceCIDR: { type: 'string', description: 'Network of the cluster IPs of services.' },
    problem: {
      type: 'string',
      maxLength: 1024,
      description: 'Why a server cannot open the port. Present until the server has opened it.',
    },
  },
} as const;

const quarantine = {
  type: 'object',
  description:
    'The server suspended the control plane by itself, because its requests blocked or crashed the server. Present until the quarantine expires; remove it, or run hangar resume, to end the quarantine.',
  required: ['reason', 'message', 'since', 'until'],
  properties: {
    reason: { type: 'string', description: 'EventLoopStalls or ProcessCrash.' },
    message: { type: 'string', description: 'The requests that caused it.' },
    since: { type: 'string', format: 'date-time' },
    until: { type: 'string', format: 'date-time' },
  },
} as const;

const serving = {
  type: 'object',
  description:
    'Server that answers the requests of the control plane. Present since a migration to or from a dedicated control plane held it for the first time.',
  required: ['mode'],
  properties: {
    mode: {
      type: 'string',
      description:
        'Local: this server answers requests with the data of the tenant. Remote: requests are passed on to the API server of a dedicated control plane.',
      enum: ['Local', 'Remote'],
    },
    server: { type: 'string', description: 'URL of the API server that requests are passed on to.' },
    heldBy: {
      type: 'string',
      description: 'ID of the migration that holds the control plane. Requests wait until the hold ends.',
    },
    heldAt: { type: 'string', format: 'date-time', description: 'When the migration requested the hold last.' },
  },
} as const;

const rules = [
  {
    rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 63",
    message: 'the name of a tenant is its cluster path and must be a DNS label of at most 63 characters',
  },
  {
    rule: `self.metadata.name != '${rootPath}'`,
    message: `${rootPath} is the name of the management plane`,
  },
];

export const tenantKind = (): Kind =>
  declareKind({
    group: tenantGroup,
    version: tenantVersion,
    kind: 'Tenant',
    plural: tenantsName.resource,
    shortNames: ['tn'],
    scope: 'Cluster',
    hasStatus: true,
    schema: {
      type: 'object',
      description: 'A virtual control plane with its own Kubernetes API. Its name is its cluster path.',
      properties: {
        spec: { ...spec, default: {} },
        status: {
          type: 'object',
          properties: {
            url: { type: 'string' },
            isMaterialised: { type: 'boolean' },
            quarantine,
            nodes: nodesStatus,
            serving,
          },
        },
      },
      'x-kubernetes-validations': rules.map(({ rule, message }) => ({ rule, message })),
    } as never,
    columns: [
      { name: 'Hosts', type: 'string', jsonPath: '.spec.hosts' },
      { name: 'Suspension', type: 'string', jsonPath: '.spec.suspension' },
      { name: 'Serving', type: 'string', jsonPath: '.status.serving.mode', priority: 1 },
      { name: 'Quarantine', type: 'string', jsonPath: '.status.quarantine.reason' },
      { name: 'Deletion', type: 'string', jsonPath: '.spec.deletionPolicy' },
      { name: 'URL', type: 'string', jsonPath: '.status.url', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });
