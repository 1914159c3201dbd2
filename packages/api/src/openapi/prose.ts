/**
 * The little prose that schemas have: what every object has in common, in our words. The generated schemas carry facts
 * only; these are the fields that people ask `kubectl explain` about first, of custom resources too.
 */

/** Of every object. */
export const objectProse = {
  apiVersion:
    'APIVersion defines the group and version of the schema that this object is written in. ' +
    'A server converts it to its latest, and refuses those that it does not know.',
  kind: 'Kind names what this object is, in CamelCase. It follows from the path of a request and cannot be changed.',
  metadata: "Standard object's metadata: what all kinds have in common.",
} as const;

/** Of the fields of metadata. */
export const metadataProse: Readonly<Record<string, string>> = {
  annotations: 'Annotations are values that tools keep with an object; nothing can be selected by them.',
  creationTimestamp: 'CreationTimestamp is a timestamp of the server: when the object was created. It never changes.',
  deletionGracePeriodSeconds: 'How long the object may take to end, in seconds, once its deletion was asked for.',
  deletionTimestamp: 'DeletionTimestamp is when the object may be gone. The server sets it when somebody deletes.',
  finalizers: 'Names of those who have something to do before the object may go. It goes when the list is empty.',
  generateName: 'GenerateName is the beginning of a name that the server completes, where no name is given.',
  generation: 'A number that grows whenever what is wanted of the object changes.',
  labels: 'Labels are keys and values by which objects are selected and grouped.',
  managedFields: 'ManagedFields says which manager set which fields, for server-side apply.',
  name: 'Name is unique among the objects of its kind in a namespace. It cannot be changed.',
  namespace: 'Namespace is where the name must be unique. Objects of the whole cluster have none.',
  ownerReferences: 'The objects that this one belongs to. It is collected as garbage when all of them are gone.',
  resourceVersion: 'ResourceVersion tells one state of the object from another. Clients hand it back as it is.',
  selfLink: 'SelfLink is not set any more.',
  uid: 'UID is unique in time and space: another object of the same name has another.',
};
