/** Settings for nodes of a control plane: in a ControlPlane, and as defaults in a ControlPlaneClass. */

export interface NodesSpec {
  /**
   * Whether nodes can join. The control plane gets a separate port, through which nodes and pods reach it without a path. A control
   * plane without this field uses the value of its class. Defaults to false.
   */
  enabled?: boolean;
  /**
   * Networks (CIDR) that contain the addresses of nodes, pods and services of the control plane. The server opens connections to kubelets,
   * pods and services only in these networks, for logs, exec, port-forward and proxy. Without networks, it opens none. A control plane
   * without this field uses the networks of its class.
   *
   * @listType set
   * @maxItems 32
   * @items.minLength 1
   * @items.maxLength 49
   * @items.rule "isCIDR(self)" message "must be a network in CIDR notation, such as 10.0.0.0/8 or fd00::/8"
   */
  networks?: string[];
}
