/** Options of the kubelet API. */

export interface KubeletOptions {
  /** Absent: a free port of the address of the node. */
  readonly port?: number | undefined;
  /**
   * CA of the client certificate of the API server, PEM. Clients without a certificate of this CA are rejected, and so are users without
   * the right to `nodes/proxy`, or `nodes/metrics` for metrics, in the control plane.
   */
  readonly clientCa: string;
}
