/**
 * Names of all admission plugins in the order of kube-apiserver, and the selection among them. The plugins themselves are loaded with the
 * first write.
 */

/** False: off unless enabled by name. */
const isOnByDefault = {
  NamespaceLifecycle: true,
  LimitRanger: true,
  ServiceAccount: true,
  // Off in kube-apiserver, on in every cluster created by kubeadm: without it a node can write objects of other nodes.
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

/** Plugin names as in `--enable-admission-plugins` and `--disable-admission-plugins`. */
export interface PluginChoice {
  readonly enabled?: readonly string[];
  readonly disabled?: readonly string[];
}

/** Throws for unknown names and for names in both lists, so that a typing error cannot disable a check. */
export function checkPluginChoice({ enabled = [], disabled = [] }: PluginChoice): void {
  const unknown = [...enabled, ...disabled].find((name) => !(pluginNames as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new Error(`unknown admission plugin "${unknown}"; known plugins: ${pluginNames.toSorted().join(', ')}`);
  }
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined) throw new Error(`the admission plugin "${both}" is both enabled and disabled`);
}

/** Returns the selected plugins in order. Throws like `checkPluginChoice`. */
export function chosenPlugins(choice: PluginChoice): readonly PluginName[] {
  checkPluginChoice(choice);
  const { enabled = [], disabled = [] } = choice;
  return pluginNames.filter((name) => !disabled.includes(name) && (isOnByDefault[name] || enabled.includes(name)));
}
