/** Sends a request of a page to our own API. */
export type FetchApi = (path: string) => Promise<Response>;
