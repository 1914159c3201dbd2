/**
 * The plugins that there are, in the order in which they are asked, which is kube-apiserver's; and the choice among them.
 * Only their names: the plugins themselves come with the first write.
 */

/** False: only when it is asked for. */
const isOnByDefault = {
  NamespaceLifecycle: true,
  LimitRanger: true,
  ServiceAccount: true,
  // Off in kube-apiserver, on in every cluster that kubeadm made: without it a node may write about others.
  NodeRestriction: true,
  TaintNodesByCondition: true,
  AlwaysPullImages: false,
  PodSecurity: true,
  Priority: true,
  DefaultTolerationSeconds: true,
  ExtendedResourceToleration: false,
  DefaultStorageClass: true,
  StorageObjectInUseProtection: true,
  OwnerReferencesPermissionEnforcement: false,
  PersistentVolumeClaimResize: true,
  RuntimeClass: true,
  CertificateApproval: true,
  CertificateSigning: true,
  ClusterTrustBundleAttest: true,
  CertificateSubjectRestriction: true,
  DefaultIngressClass: true,
  DenyServiceExternalIPs: false,
  PodTopologyLabels: true,
  PodResizeValidator: true,
  MutatingAdmissionPolicy: true,
  MutatingAdmissionWebhook: true,
  ValidatingAdmissionPolicy: true,
  ValidatingAdmissionWebhook: true,
  ResourceQuota: true,
} as const;

export type PluginName = keyof typeof isOnByDefault;

export const pluginNames = Object.keys(isOnByDefault) as readonly PluginName[];

/** By the names that `--enable-admission-plugins` and `--disable-admission-plugins` take. */
export interface PluginChoice {
  readonly enabled?: readonly string[];
  readonly disabled?: readonly string[];
}

/** Throws for names that no plugin has, or that are in both lists: a typing error must not leave a rule out. */
export function checkPluginChoice({ enabled = [], disabled = [] }: PluginChoice): void {
  const unknown = [...enabled, ...disabled].find((name) => !(pluginNames as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new Error(`unknown admission plugin "${unknown}"; known plugins: ${pluginNames.toSorted().join(', ')}`);
  }
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined) throw new Error(`the admission plugin "${both}" is both enabled and disabled`);
}

/** In their order. Throws like `checkPluginChoice`. */
export function chosenPlugins(choice: PluginChoice): readonly PluginName[] {
  checkPluginChoice(choice);
  const { enabled = [], disabled = [] } = choice;
  return pluginNames.filter((name) => !disabled.includes(name) && (isOnByDefault[name] || enabled.includes(name)));
}
