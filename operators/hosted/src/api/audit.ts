/** The audit policy and the webhook of a hosted control plane. The policy is audit.k8s.io/v1 Policy of Kubernetes. */

import type { ContainerSpec } from './containers.ts';

export interface Audit {
  /** Audit policy of the API server: a Policy of audit.k8s.io/v1. */
  policy: AuditPolicy;
  /** How the API server sends events to the webhook. Defaults to batch. */
  mode?: AuditMode;
  /** Webhook that receives the events. If unset, events are written to the standard output of the API server. */
  webhook?: AuditWebhook;
}

export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

export interface AuditPolicy {
  /** Must be audit.k8s.io/v1. */
  apiVersion?: 'audit.k8s.io/v1';
  /** Must be Policy. */
  kind?: 'Policy';
  /**
   * Rules. The first rule that matches a request determines its level. A request that no rule matches is not recorded.
   *
   * @listType atomic
   * @minItems 1
   * @maxItems 256
   */
  rules: AuditPolicyRule[];
  /**
   * Stages for which no events are created.
   *
   * @listType atomic
   */
  omitStages?: AuditStage[];
  /** Whether managedFields are removed from request and response bodies. */
  omitManagedFields?: boolean;
}

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

export interface AuditPolicyRule {
  /** Amount of detail of the events. */
  level: AuditLevel;
  /**
   * Users that the rule matches. If unset, all users.
   *
   * @listType atomic
   */
  users?: string[];
  /**
   * Groups of users that the rule matches. If unset, all groups.
   *
   * @listType atomic
   */
  userGroups?: string[];
  /**
   * Verbs that the rule matches. If unset, all verbs.
   *
   * @listType atomic
   */
  verbs?: string[];
  /**
   * Resources that the rule matches. If unset, all resources.
   *
   * @listType atomic
   */
  resources?: AuditGroupResources[];
  /**
   * Namespaces that the rule matches. The empty string matches cluster-scoped resources. If unset, all namespaces.
   *
   * @listType atomic
   */
  namespaces?: string[];
  /**
   * Paths that the rule matches, such as /healthz*.
   *
   * @listType atomic
   */
  nonResourceURLs?: string[];
  /**
   * Stages for which no events are created, in addition to those of the policy.
   *
   * @listType atomic
   */
  omitStages?: AuditStage[];
  /** Whether managedFields are removed. Defaults to the value of the policy. */
  omitManagedFields?: boolean;
}

export interface AuditGroupResources {
  /** API group. If unset, the core group. */
  group?: string;
  /**
   * Resources and subresources, such as pods, pods/log or a star.
   *
   * @listType atomic
   */
  resources?: string[];
  /**
   * Names of objects. If unset, all names.
   *
   * @listType atomic
   */
  resourceNames?: string[];
}

/** The container settings apply to the container that sends the events to several targets. */
export interface AuditWebhook extends ContainerSpec {
  /**
   * Servers that receive the events. Each of them receives all events.
   *
   * @listType atomic
   * @minItems 1
   * @maxItems 16
   */
  targets: AuditWebhookTarget[];
}

export interface AuditWebhookTarget {
  /**
   * URL of the server.
   *
   * @minLength 1
   * @maxLength 2048
   * @pattern ^https?://[^\s/]+
   */
  server: string;
  /** Credentials for the server. If unset, requests are anonymous. */
  authentication?: AuditWebhookAuthentication;
}

export interface AuditWebhookAuthentication {
  /**
   * Name of the Secret with a bearer token.
   *
   * @minLength 1
   * @maxLength 253
   */
  secretName: string;
  /**
   * Namespace of the Secret. Defaults to the namespace of the control plane.
   *
   * @minLength 1
   * @maxLength 63
   */
  secretNamespace?: string;
  /**
   * Key of the Secret that contains the token. Defaults to token.
   *
   * @minLength 1
   * @maxLength 253
   */
  tokenKey?: string;
}
