/**
 * Descriptions of the fields that all objects share. The generated schemas have no descriptions; these are the fields that users query with
 * `kubectl explain` first, also of custom resources.
 */

/** For every object. */
export const objectProse = {
  apiVersion:
    'APIVersion defines the group and version of the schema that this object is written in. ' +
    'The server converts a supported version to its latest version and rejects unknown versions.',
  kind: 'Kind is the CamelCase name of the resource that this object represents. The server can infer it from the path of a request. It cannot be changed.',
  metadata: "Standard object's metadata, which all kinds have in common.",
} as const;

/** For the fields of metadata. */
export const metadataProse: Readonly<Record<string, string>> = {
  annotations:
    'Annotations are arbitrary values that tools store with an object. Objects cannot be selected by annotations.',
  // The conformance tests of Kubernetes expect the words "CreationTimestamp is a timestamp" in the output of kubectl explain.
  creationTimestamp:
    'CreationTimestamp is a timestamp that the server sets when it creates the object. It never changes.',
  deletionGracePeriodSeconds:
    'Number of seconds that the object may take to terminate after its deletion was requested.',
  deletionTimestamp:
    'DeletionTimestamp is the time after which the object is removed. The server sets it when a client deletes the object.',
  finalizers:
    'Finalizers are the names of components that must act before the object is removed. The object is removed when the list is empty.',
  generateName: 'GenerateName is a prefix from which the server generates a unique name if name is empty.',
  generation: 'Generation is a number that increases with every change of the desired state.',
  labels: 'Labels are key-value pairs by which objects are selected and grouped.',
  managedFields: 'ManagedFields records which manager set which fields, for server-side apply.',
  name: 'Name is unique among the objects of a kind within a namespace. It cannot be changed.',
  namespace: 'Namespace is the space within which the name must be unique. Cluster-scoped objects have no namespace.',
  ownerReferences:
    'OwnerReferences are the objects that this object depends on. The garbage collector deletes it when all owners are deleted.',
  resourceVersion:
    'ResourceVersion identifies the version of the object. Clients must treat it as opaque and send it back unmodified.',
  selfLink: 'SelfLink is no longer set.',
  uid: 'UID is unique in time and space: a later object with the same name has a different UID.',
};
