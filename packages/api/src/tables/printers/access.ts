/** Access and request handling: RBAC, certificates, admission, flow control, registered APIs. */

import { ageOf, humanDuration } from '../age.ts';
import { labelsText, none, selectorDump } from '../selector-text.ts';
import type { LabelSelector } from '../selector-text.ts';
import { printer, unset } from './printer.ts';
import type { BuiltinPrinter, Printers, WithConditions } from './printer.ts';

interface Binding {
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

interface SigningRequest {
  readonly spec?: { readonly signerName?: string; readonly username?: string; readonly expirationSeconds?: number };
  readonly status?: WithConditions & { readonly certificate?: string };
}

interface PodCertificateRequest {
  readonly spec?: {
    readonly podName?: string;
    readonly serviceAccountName?: string;
    readonly nodeName?: string;
    readonly signerName?: string;
    readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
  };
  readonly status?: WithConditions;
}

interface Policy {
  readonly spec?: {
    readonly validations?: readonly object[];
    readonly mutations?: readonly object[];
    readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string };
  };
}

interface PolicyBinding {
  readonly spec?: {
    readonly policyName?: string;
    readonly paramRef?: { readonly name?: string; readonly namespace?: string; readonly selector?: LabelSelector };
  };
}

interface FlowSchema {
  readonly spec?: {
    readonly priorityLevelConfiguration?: { readonly name?: string };
    readonly matchingPrecedence?: number;
    readonly distinguisherMethod?: { readonly type?: string };
  };
  readonly status?: WithConditions;
}

interface PriorityLevel {
  readonly spec?: {
    readonly type?: string;
    readonly limited?: {
      readonly nominalConcurrencyShares?: number;
      readonly limitResponse?: {
        readonly queuing?: {
          readonly queues?: number;
          readonly handSize?: number;
          readonly queueLengthLimit?: number;
        };
      };
    };
  };
}

interface APIService {
  readonly spec?: { readonly service?: { readonly namespace?: string; readonly name?: string } };
  readonly status?: WithConditions;
}

const bindingPrinter = printer<Binding>((binding, now) => {
  const { metadata, roleRef, subjects = [] } = binding;
  const ofKind = (kind: string) => subjects.filter((subject) => subject.kind === kind);
  return [
    metadata.name,
    `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
    ageOf(binding, now),
    ofKind('User')
      .map(({ name }) => name)
      .join(', '),
    ofKind('Group')
      .map(({ name }) => name)
      .join(', '),
    ofKind('ServiceAccount')
      .map(({ namespace = '', name }) => `${namespace}/${name}`)
      .join(', '),
  ];
});

function signingStatus({ status }: SigningRequest): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

const finalStates = new Set(['Issued', 'Denied', 'Failed']);

const webhooksPrinter = printer<{ webhooks?: readonly object[] }>((configuration, now) => [
  configuration.metadata.name,
  configuration.webhooks?.length ?? 0,
  ageOf(configuration, now),
]);

const policyPrinter = (rules: 'validations' | 'mutations'): BuiltinPrinter =>
  printer<Policy>((policy, now) => {
    const kind = policy.spec?.paramKind;
    return [
      policy.metadata.name,
      policy.spec?.[rules]?.length ?? 0,
      kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : unset,
      ageOf(policy, now),
    ];
  });

/** Whether parameters are namespaced is unknown here: `*` replaces an absent namespace. */
function paramCell({ spec }: PolicyBinding): string {
  const { name, namespace, selector } = spec?.paramRef ?? {};
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? selectorDump(selector) : unset;
}

const policyBindingPrinter = printer<PolicyBinding>((binding, now) => [
  binding.metadata.name,
  binding.spec?.policyName ?? '',
  paramCell(binding),
  ageOf(binding, now),
]);

function availableCell({ status }: APIService): string {
  const condition = status?.conditions?.find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason
    ? `${condition.status} (${condition.reason})`
    : condition.status;
}

export const accessPrinters: Printers = {
  'rbac.authorization.k8s.io/RoleBinding': bindingPrinter,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingPrinter,
  'certificates.k8s.io/CertificateSigningRequest': printer<SigningRequest>((request, now) => {
    const { signerName, username = '', expirationSeconds } = request.spec ?? {};
    return [
      request.metadata.name,
      ageOf(request, now),
      signerName || none,
      username,
      expirationSeconds === undefined ? none : humanDuration(expirationSeconds * 1000),
      signingStatus(request),
    ];
  }),
  'certificates.k8s.io/ClusterTrustBundle': printer<{ spec?: { signerName?: string } }>(({ metadata, spec }) => [
    metadata.name,
    spec?.signerName || none,
  ]),
  'certificates.k8s.io/PodCertificateRequest': printer<PodCertificateRequest>(({ metadata, spec = {}, status }) => [
    metadata.name,
    spec.podName ?? '',
    spec.serviceAccountName ?? '',
    spec.nodeName ?? '',
    spec.signerName ?? '',
    status?.conditions?.findLast(({ type }) => finalStates.has(type))?.type ?? 'Pending',
    labelsText(spec.unverifiedUserAnnotations),
  ]),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooksPrinter,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooksPrinter,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': policyPrinter('validations'),
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': policyPrinter('mutations'),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policyBindingPrinter,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policyBindingPrinter,
  'flowcontrol.apiserver.k8s.io/FlowSchema': printer<FlowSchema>(
    (schema, now) => [
      schema.metadata.name,
      schema.spec?.priorityLevelConfiguration?.name ?? '',
      schema.spec?.matchingPrecedence ?? 0,
      schema.spec?.distinguisherMethod ? (schema.spec.distinguisherMethod.type ?? '') : none,
      ageOf(schema, now),
      schema.status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ],
    {
      // In the order of evaluation.
      compare: (left, right) => {
        const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 0;
        const [a = '', b = ''] = [left.metadata.name, right.metadata.name];
        return precedence(left) - precedence(right) || (a < b ? -1 : a > b ? 1 : 0);
      },
    },
  ),
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': printer<PriorityLevel>((level, now) => {
    const limited = level.spec?.limited;
    const queuing = limited?.limitResponse?.queuing;
    return [
      level.metadata.name,
      level.spec?.type ?? '',
      limited ? (limited.nominalConcurrencyShares ?? 0) : none,
      queuing ? (queuing.queues ?? 0) : none,
      queuing ? (queuing.handSize ?? 0) : none,
      queuing ? (queuing.queueLengthLimit ?? 0) : none,
      ageOf(level, now),
    ];
  }),
  'apiregistration.k8s.io/APIService': printer<APIService>(
    (service, now) => {
      const reference = service.spec?.service;
      return [
        service.metadata.name,
        reference ? `${reference.namespace ?? ''}/${reference.name ?? ''}` : 'Local',
        availableCell(service),
        ageOf(service, now),
      ];
    },
    { repeatsColumns: true },
  ),
};
