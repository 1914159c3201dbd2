/** Limits of decoded values. The reader of a body limits its size. */

/**
 * Nesting of objects and lists in JSON and YAML. kube-apiserver allows 10,000; no real object comes near, and code that
 * walks objects recursively must not run out of stack.
 */
export const depthMax = 1000;

/** Nesting of messages; the only recursive built-in type is the schema inside a CustomResourceDefinition. */
export const messageDepthMax = 500;

/**
 * Objects that one protobuf body may become. Two bytes can say "one more empty container", which becomes hundreds of
 * bytes of object: a body must not grow a hundredfold in memory.
 */
export const decodedObjectsMax = (bodyBytes: number): number => 100_000 + Math.floor(bodyBytes / 8);

/**
 * The weight of one body: each value counts one and each key of an object one more. Each key beyond the first 256 of an object
 * counts two more, since objects with many keys cost several times as much, and so does each text or number beyond the first
 * 256 of a list, since server-side apply keeps it as a key. `metadata.managedFields` may weigh twice as much besides. At this
 * weight no step of a request takes longer than 50 ms: docs/adr has the figures.
 */
export const bodyWeightMax = 100_000;
export const wideFrom = 256;

/** Number of problems that a strict decoding lists, as in kube-apiserver. */
export const strictProblemsMax = 100;

/** Nodes that the aliases of one YAML document may add to it. */
export const yamlAliasedNodesMax = 10_000;
