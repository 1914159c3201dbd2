/** An aggregated API server that searches the objects of all control planes. */
export {};
