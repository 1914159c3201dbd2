/** Settings of containers and pods that several components share. */

/**
 * A quantity of Kubernetes, such as 500m or 8Gi.
 *
 * @pattern ^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$
 */
export type Quantity = string | number;

export type ImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** A field that is not set has the default of the component. */
export interface ImageSpec {
  /**
   * Registry, such as registry.k8s.io, with a port if necessary.
   *
   * @minLength 1
   * @maxLength 253
   */
  registry?: string;
  /**
   * Repository in the registry, such as kube-apiserver.
   *
   * @minLength 1
   * @maxLength 255
   */
  repository?: string;
  /**
   * Tag, such as v1.36.4, or a digest, such as sha256:0123….
   *
   * @minLength 1
   * @maxLength 255
   */
  tag?: string;
}

/** Compute resources of a container. */
export interface ResourceRequirements {
  /** Maximum amounts, by the name of the resource. */
  limits?: Record<string, Quantity>;
  /** Reserved amounts, by the name of the resource. */
  requests?: Record<string, Quantity>;
}

export interface ContainerSpec {
  /** Image of the container. */
  image?: ImageSpec;
  /** When the image is pulled. Defaults to IfNotPresent. */
  imagePullPolicy?: ImagePullPolicy;
  /**
   * Arguments of the program, by their name without dashes. They override the arguments that the operator renders, except arguments
   * that the control plane cannot work without.
   *
   * @maxProperties 128
   */
  args?: Record<string, string>;
  /** Compute resources of the container. */
  resources?: ResourceRequirements;
}

export interface PodSpec extends ContainerSpec {
  /**
   * Name of the PriorityClass of the pods.
   *
   * @maxLength 253
   */
  priorityClassName?: string;
}

export interface ScalablePodSpec extends PodSpec {
  /**
   * Number of pods.
   *
   * @format int32
   * @minimum 1
   * @maximum 32
   */
  replicas?: number;
}

/** A ConfigMap or Secret as files in the container of the API server. */
export interface Mount {
  /**
   * Absolute path of the folder in the container.
   *
   * @minLength 1
   * @maxLength 4096
   * @pattern ^/
   */
  path: string;
  /** ConfigMap in the namespace of the control plane. */
  configMap?: ConfigMapVolume;
  /** Secret in the namespace of the control plane. */
  secret?: SecretVolume;
}

export interface ConfigMapVolume {
  /**
   * Name of the ConfigMap.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Keys that become files. If unset, all keys.
   *
   * @listType atomic
   */
  items?: KeyToPath[];
  /**
   * Mode of the files.
   *
   * @format int32
   * @minimum 0
   * @maximum 511
   */
  defaultMode?: number;
  /** Whether the ConfigMap may be absent. Defaults to false. */
  optional?: boolean;
}

export interface SecretVolume {
  /**
   * Name of the Secret.
   *
   * @minLength 1
   * @maxLength 253
   */
  secretName: string;
  /**
   * Keys that become files. If unset, all keys.
   *
   * @listType atomic
   */
  items?: KeyToPath[];
  /**
   * Mode of the files.
   *
   * @format int32
   * @minimum 0
   * @maximum 511
   */
  defaultMode?: number;
  /** Whether the Secret may be absent. Defaults to false. */
  optional?: boolean;
}

export interface KeyToPath {
  /** Key of the ConfigMap or Secret. */
  key: string;
  /** Path of the file, relative to the folder. */
  path: string;
  /**
   * Mode of the file.
   *
   * @format int32
   * @minimum 0
   * @maximum 511
   */
  mode?: number;
}
