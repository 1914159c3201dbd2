/** An aggregated API server for the audit events and activities of all control planes. */
export {};
